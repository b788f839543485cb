// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"

	"github.com/hookline-nri/hookline/conformance/fixture"
)

// What the tests share with the cases, by the names that it has here.
type (
	inHook     = fixture.InHook
	told       = fixture.Told
	life       = fixture.Life
	creationOf = fixture.CreationOf
	workload   = fixture.Workload
	breach     = fixture.Breach
)

var (
	stateOfContainer             = fixture.StateOfContainer
	created                      = fixture.NewCreated
	cannotJoin                   = fixture.CannotJoin
	readyState                   = fixture.ReadyState
	netns                        = fixture.NetworkNamespace
	neverHears                   = fixture.NeverHears
	noPolicies                   = fixture.NoPolicies
	toldNothing                  = fixture.ToldNothing
	undoneDead                   = fixture.UndoneDead
	allThree                     = fixture.AllThree
	announced                    = fixture.Announced
	callsThatShow                = fixture.CallsThatShow
	connect                      = fixture.Connect
	connectInBackground          = fixture.ConnectInBackground
	cpuOf                        = fixture.CPUOf
	cpusTold                     = fixture.CPUsTold
	endPod                       = fixture.EndPod
	eventually                   = fixture.Eventually
	teardown                     = fixture.EveryEnd
	hasAnswered                  = fixture.HasAnswered
	hasAnsweredOf                = fixture.HasAnsweredOf
	hasGot                       = fixture.HasGot
	inBackground                 = fixture.InBackground
	inFull                       = fixture.InFull
	inTimeouts                   = fixture.InTimeouts
	inspectp                     = fixture.Inspectp
	joinProcess                  = fixture.JoinProcess
	keptOnStock                  = fixture.KeptOnStock
	kib                          = fixture.KiB
	killSandbox                  = fixture.KillSandbox
	newGate                      = fixture.NewGate
	newInHook                    = fixture.NewInHook
	newLife                      = fixture.NewLife
	newLifeOf                    = fixture.NewLifeOf
	newWorkload                  = fixture.NewWorkload
	onStock                      = fixture.OnStock
	podsNamed                    = fixture.PodsNamed
	podsOf                       = fixture.PodsOf
	readNRI                      = fixture.ReadNRI
	refusesWith                  = fixture.RefusesWith
	removeAllPods                = fixture.RemoveAllPods
	requests                     = fixture.Requests
	requireAllCreated            = fixture.RequireAllCreated
	requireClosed                = fixture.RequireClosed
	requireEnds                  = fixture.RequireEnds
	requireEveryEndToldOnce      = fixture.RequireEveryEndToldOnce
	requireNoPodReady            = fixture.RequireNoPodReady
	requireNoticed               = fixture.RequireNoticed
	requireNothingLeft           = fixture.RequireNothingLeft
	requireNothingLeftButSockets = fixture.RequireNothingLeftButSockets
	requirePodNotReady           = fixture.RequirePodNotReady
	requirePodRunsAgain          = fixture.RequirePodRunsAgain
	requireReadable              = fixture.RequireReadable
	requireSoon                  = fixture.RequireSoon
	requireWaiting               = fixture.RequireWaiting
	rollBackRaces                = fixture.RollBackRaces
	runPods                      = fixture.RunPods
	slowest                      = fixture.Slowest
	sometimesOnStock             = fixture.SometimesOnStock
	startProcess                 = fixture.StartProcess
	sumOf                        = fixture.SumOf
	sumsTold                     = fixture.SumsTold
	threeContainers              = fixture.ThreeContainers
	timesSynchronized            = fixture.TimesSynchronized
	undone                       = fixture.Undone
	whole                        = fixture.Whole
	withinAMinute                = fixture.WithinAMinute
	withinMoments                = fixture.WithinMoments
)

// isOpen tells whether what runs in the background goes on, or a channel is not closed.
func isOpen[T any](done <-chan T) bool { return fixture.IsOpen(done) }

// lines puts each of a list on a line.
func lines[T fmt.Stringer](list []T) string { return fixture.Lines(list) }
