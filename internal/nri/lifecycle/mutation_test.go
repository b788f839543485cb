// SPDX-License-Identifier: Apache-2.0

// Most of this file is one table, which is longer than a file should be: before adding a rule,
// look through all of it for a mutation that switches off the same.

package lifecycle

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A mutation switches off one of the rules by which the engine keeps the contract. It
// changes the source that the compiler reads in place of the file, so that the engine itself
// needs no switches.
type mutation struct {
	off  string // the rule that no longer holds
	file string
	from string // occurs once in file
	to   string
	by   string // the test that finds it; if empty, a play of TestContract whose seed is kept
	in   string // the folder of that test, if it is not this one
}

var mutations = []mutation{
	{
		off:  "one request at a time",
		file: "lane.go",
		from: "case !l.held && !l.paused():\n\t\tl.held = true\n\t\treturn since, nil",
		to:   "case true:\n\t\tl.held = true\n\t\treturn since, nil",
	},
	{
		off:  "connections are asked in the order of their indices",
		file: "engine.go",
		from: "a.index > b.index",
		to:   "a.index < b.index",
	},
	{
		off:  "nothing comes before Synchronize",
		file: "lane.go",
		from: "!l.session.begun || l.hold != nil",
		to:   "l.hold != nil",
	},
	{
		off:  "a pod's Stop waits for those of its containers",
		file: "ledger/end.go",
		from: "case p.running > 0:",
		to:   "case false:",
		by:   "^TestLedger$",
		in:   "ledger",
	},
	{
		off:  "a pod's Remove waits for those of its containers",
		file: "ledger/end.go",
		from: "case remove && len(p.containers) > 0:",
		to:   "case false:",
		by:   "^TestLedger$",
		in:   "ledger",
	},
	{
		off:  "a Remove that comes alone is preceded by a Stop",
		file: "ledger/end.go",
		from: "case c.mark.stops():\n\t\treturn StopContainer",
		to:   "case c.mark.stops() && !remove:\n\t\treturn StopContainer",
	},
	{
		off:  "no plugin is asked before one that is to be first has answered",
		file: "ask.go",
		from: "if !q.creation.mayAsk(l) {",
		to:   "if false {",
		by:   "^TestN5_NoPluginIsAskedBeforeTheNetworkPluginReturns$",
	},
	{
		off:  "a plugin that joins during a creation is asked, too",
		file: "latecomers.go",
		from: "case c.isLate(l) && c.spent >= q.engine.opts.RequestTimeout():",
		to:   "case c.isLate(l):",
		by:   "^TestL2_PluginThatJoinsDuringTheHookIsAskedBeforeTheSeal$",
	},
	{
		off:  "a plugin that comes back during a creation is not asked again",
		file: "latecomers.go",
		from: "case c.returned(l, s):",
		to:   "case false:",
		by:   "^TestL2_PluginThatReturnsDuringACreationIsDeliveredLate$",
	},
	{
		off:  "two connected plugins of one name are both asked",
		file: "latecomers.go",
		from: "a.lane.name == l.name && c.isLate(l))",
		to:   "a.lane.name == l.name)",
		by:   "^TestL2_TwoOfOneNameAreBothAsked$",
	},
	{
		off:  "a connection whose list is being taken when a creation is sealed receives it",
		file: "latecomers.go",
		from: "for _, s := range e.listing {\n\t\tlate = append(late, s.lane)",
		to:   "for _, s := range e.listing {\n\t\t_ = s.lane",
	},
	{
		off:  "a plugin that registers after a container was sealed receives it when the runtime has it",
		file: "latecomers.go",
		from: "if !c.has(l, l.session) {\n\t\t\tlate = append(late, l)",
		to:   "if !c.has(l, l.session) {\n\t\t\t_ = l",
		by:   "^TestL2_ContainerInCreationIsDeliveredOnce$",
	},
	{
		off:  "a skipped plugin receives a container when the runtime has it, and not before",
		file: "creation.go",
		from: "if ev.Container == \"\" {\n\t\te.deliverLate",
		to:   "if len(c.missed) > 0 {\n\t\te.deliverLate",
		by:   "^TestL2_PluginThatReturnsDuringACreationIsDeliveredLate$",
	},
	{
		off:  "a creation stays until it was delivered to all",
		file: "creation.go",
		from: "e.latecomers(c))\n\te.mu.Unlock()",
		to:   "e.latecomers(c))\n\tdelete(e.creations, o)\n\te.mu.Unlock()",
		by:   "^TestL3_ContainerEndsWhileItIsDeliveredLate$",
	},
	{
		off:  "the runtime has a container that it lists",
		file: "list.go",
		from: "made = append(made, c.ID())",
		to:   "_ = c",
		by:   "^TestL2_ContainerThatIsOnlyListedIsDeliveredLate$",
	},
	{
		off:  "a container that has exited is not in creation",
		file: "list.go",
		from: "e.takeOut(c)",
		to:   "_ = c",
		by:   "^TestContainerThatHasExitedIsNotInCreation$",
	},
	{
		off:  "a successor that has closed takes nothing over",
		file: "join.go",
		from: "l.session != s {",
		to:   "false {",
		by:   "^TestL1[89]_SuccessorThatClosesAfterSynchronize.*$",
	},
	{
		off:  "an object that ends while the line is paused does not begin",
		file: "succession.go",
		from: "case e.ended.stage(o.ID()) != alive:",
		to:   "case false:",
		by:   "^TestL3_ContainerThatEndsDuringTheSecondListDoesNotBegin$",
	},
	{
		off:  "a connection that is not synchronized is not present",
		file: "required.go",
		from: "\tcase !s.joined:\n\t\treturn joining",
		to:   "\tcase false:\n\t\treturn joining",
		by:   "^TestL20_JoiningPluginIsNotPresent$",
	},
	{
		off:  "a connection that has closed is not present",
		file: "required.go",
		from: "case s == nil || s.lost():",
		to:   "case s == nil:",
		by:   "^TestL20_ClosedConnectionIsNotPresent$",
	},
	{
		off:  "an overdue connection is not present",
		file: "required.go",
		from: "\t\treturn &Error{l.session.conn, q.event, Skip, l.overdueError()}",
		to:   "\t\treturn nil",
		by:   "^TestL20_OverduePluginIsNotPresent$",
	},
	{
		off:  "an end that broke a connection comes first for the next connection",
		file: "line.go",
		from: "case n.missed[0].again:",
		to:   "case false:",
		by:   "^TestL22_TwoEndsThatBreakByTurnsAreDropped$",
	},
	{
		off:  "the ends that a successor does not want have ended",
		file: "missed.go",
		from: "l.ledger.Pass(p.round.events)",
		to:   "_ = p",
		by:   "^TestL18_SuccessorWithoutEndsKeepsNothing$",
	},
	{
		off:  "a full line of a permanent plugin fails no pod",
		file: "ask.go",
		from: ", errors.Is(err, ErrBacklog):",
		to:   ":",
		by:   "^TestL16_PermanentPluginWithAFullLineFailsNoRequest$",
	},
	{
		off:  "the time to vanish starts anew when a container begins",
		file: "creation.go",
		from: "delete(e.missing, c.event.ID())",
		to:   "_ = c",
		by:   "^TestL3_ContainerHasTheIdOfOneThatNoListHad$",
	},
	{
		off:  "the last names that failed are remembered",
		file: "join.go",
		from: "e.failed.note(s.name)",
		to:   "if len(e.failed) < names {\n\t\t\te.failed.note(s.name)\n\t\t}",
		by:   "^TestL22_ManyNamesThatFailedHideNone$",
	},
	{
		off:  "a list does not concern objects that began after it",
		file: "list.go",
		from: " && !c.since.After(taken.began)",
		to:   "",
		by:   "^TestL2_ContainerHasTheIdOfOneThatHadExited$",
	},
	{
		off:  "a list is as new as what it has read",
		file: "vanished.go",
		from: "missing[o] = time.Now()",
		to:   "missing[o] = began",
		by:   "^TestL3_ListThatWaitedIsAsNewAsItsReading$",
	},
	{
		off:  "an event of a pod proves that the pod exists",
		file: "engine.go",
		from: "delete(e.missing, ledger.ID{Pod: ev.Pod})",
		to:   "_ = ev",
		by:   "^TestL3_PodWithEventsHasNotVanished$",
	},
	{
		off:  "a creation proves that its pod exists",
		file: "creation.go",
		from: "delete(e.missing, ledger.ID{Pod: c.event.Pod})",
		to:   "",
		by:   "^TestL3_PodWithEventsHasNotVanished$",
	},
	{
		off:  "any later event of a container proves that it was created",
		file: "ask.go",
		from: "case ev.Container != \"\":",
		to:   "case ev.Kind == PostCreateContainer:",
		by:   "^TestL2_ContainerThatIsStartedExists$",
	},
	{
		off:  "a container that is never created vanishes",
		file: "vanished.go",
		from: "if c.sealed {\n\t\t\tall[o] = true",
		to:   "if c.sealed {\n\t\t\t_ = o",
		by:   "^TestL3_ContainersThatAreNeverMadeHaveEnded$",
	},
	{
		off:  "objects that vanish take turns with the line",
		file: "vanished.go",
		from: "l.line.missed = append(l.line.missed, p)",
		to:   "l.line.push(entry{part: p})",
		by:   "^TestL22_ManyVanishedObjectsBlockNothing$",
	},
	{
		off:  "nothing is kept of a pod that has vanished",
		file: "vanished.go",
		from: "delete(e.agreed, o.Pod)",
		to:   "",
		by:   "^TestApprovedPodLeavesNothing$",
	},
	{
		off:  "a pod that is missing in one list has not vanished",
		file: "vanished.go",
		from: "case !before:",
		to:   "case !before && false:",
		by:   "^TestL3_PodThatVanishesHasEnded$",
	},
	{
		off:  "a pod has not vanished before ten minutes are over",
		file: "vanished.go",
		from: "case began.Sub(since) < vanishes:",
		to:   "case began.Sub(since) < vanishes/2:",
		by:   "^TestL3_PodThatVanishesHasEnded$",
	},
	{
		off:  "a pod that is listed again has not vanished",
		file: "vanished.go",
		from: "// it vanishes with its pod\n",
		to:   "\n\t\t\tmissing[o] = since\n",
		by:   "^TestL3_PodThatVanishesHasEnded$",
	},
	{
		off:  "a pod in which a container is created has not vanished",
		file: "vanished.go",
		from: "} else {\n\t\t\tnot = append(not, ledger.ID{Pod: o.Pod})",
		to:   "} else {\n\t\t\t_ = not",
		by:   "^TestL3_PodWithACreationHasNotVanished$",
	},
	{
		off:  "creations in a pod that has vanished are over",
		file: "vanished.go",
		from: "r.orphans = e.cutShort(r.events)",
		to:   "_ = e.cutShort",
		by:   "^TestManyLivesLeaveNothing$",
	},
	{
		off:  "the end of a pod that has vanished has a request",
		file: "vanished.go",
		from: "end.Request = e.opts.ImpliedEnd(",
		to:   "_ = e.opts.ImpliedEnd(",
		by:   "^TestL3_EndOfAPodThatVanishesHasARequest$",
	},
	{
		off:  "the ends of a pod that has vanished are forgotten",
		file: "vanished.go",
		from: "delete(e.ended, o.Pod)\n",
		to:   "\n",
		by:   "^TestEndsOfDroppedObjectsAreForgotten$",
	},
	{
		off:  "the engine lists by itself once a minute at most",
		file: "vanished.go",
		from: " && time.Since(e.listedAt) >= time.Minute",
		to:   " && time.Since(e.listedAt) >= 0",
		by:   "^TestListsAreBoundedInNumber$",
	},
	{
		off:  "the engine lists by itself if many containers are unconfirmed",
		file: "vanished.go",
		from: "many := len(e.creations)",
		to:   "many := len(e.creations) >> 20",
		by:   "^TestRuntimeThatReportsNoEndsIsListed$",
	},
	{
		off:  "a first event is dropped if a successor finds its object gone",
		file: "join.go",
		from: "l.collapse(ends) //",
		to:   "_ = ends //",
		by:   "^TestL19_ContainerThatVanishesBeforeTheHandOver$",
	},
	{
		off:  "objects in Synchronize are known",
		file: "join.go",
		from: "l.ledger = ledger.Synchronized(received, former)",
		to:   "l.ledger = ledger.Synchronized(Snapshot{}, former)",
	},
	{
		off:  "a pod that was listed as stopped gets no Stop",
		file: "ledger/ledger.go",
		from: "m := inherited(!p.Stopped)",
		to:   "m := inherited(true)",
	},
	{
		off:  "a pod whose Stop is out is listed as stopped",
		file: "list.go",
		from: "p.Stopped = p.Stopped || at == ended",
		to:   "_ = ended",
	},
	{
		off:  "a pod whose Remove is out is not listed",
		file: "list.go",
		from: "if at == leaving {",
		to:   "if false {",
	},
	{
		off:  "a container whose end is out is not listed",
		file: "list.go",
		from: "switch b.ended.stage(o) {\n\t\tcase ended:",
		to:   "switch alive {\n\t\tcase ended:",
	},
	{
		off:  "a plugin that rejected a pod receives its end",
		file: "request.go",
		from: "\t\tl.fail(r, failure, r.err)\n",
		to:   "\t\tl.fail(r, failure, r.err)\n\t\tif r.event.Kind == RunPodSandbox {\n\t\t\tl.ledger.Delivered(Event{Kind: RemovePodSandbox, Pod: r.event.Pod})\n\t\t}\n",
	},
	{
		off:  "a Stop that failed is not sent again",
		file: "request.go",
		from: "\tcase !lost || s.policy.Permanent:",
		to:   "\tcase r.err != nil && !lost && r.event.Kind == StopPodSandbox:\n\t\tr.part.next++\n\tcase !lost || s.policy.Permanent:",
	},
	{
		off:  "nothing is sent about an unknown object",
		file: "ledger/begin.go",
		from: "!pod.former && pod.mark.goesOn(), nil",
		to:   "pod.mark < over, nil",
	},
	{
		off:  "a first event without a subscription is recorded",
		file: "lane.go",
		from: "_, err := l.ledger.Admit(ev)\n\t\treturn nil, err",
		to:   "return nil, nil",
	},
	{
		off:  "a first event without a subscription is recorded during Synchronize",
		file: "lane.go",
		from: "missed := ev // a copy, so that other events need no allocation\n\treturn l.push(entry{late: &missed, unwanted: true}), nil",
		to:   "return nil, nil",
		by:   "^TestL14_PodThatBeginsDuringSynchronizeIsKnown$",
	},
	{
		off:  "only subscribed events are sent",
		file: "part.go",
		from: "case !l.session.subscribed(ev.Kind):",
		to:   "case false:",
	},
	{
		off:  "no caller waits for an end without a subscription",
		file: "part.go",
		from: "if !p.round.mayBring(wants) {\n\t\treturn false",
		to:   "if !p.round.mayBring(wants) {\n\t\treturn true",
	},
	{
		off:  "no caller waits for an end that brings nothing",
		file: "part.go",
		from: "may = may || wants.Has(ev.Kind)",
		to:   "may = true",
		by:   "^TestL14_RemovalWaitsOnlyForMissingEvents$",
	},
	{
		off:  "a caller waits for the end of an object whose first event waits",
		file: "part.go",
		from: "if l.next != nil || l.line.begins(events) {",
		to:   "if l.next != nil {",
		by:   "^TestL14_RemovalWaitsForTheStopOfAPodInTheLine$",
	},
	{
		off:  "a caller waits for the end of an object that only a successor has",
		file: "part.go",
		from: "if l.next != nil || l.line.begins(events) {",
		to:   "if l.line.begins(events) {",
		by:   "^TestL19_EndOfAPodThatOnlyTheSuccessorHasWaitsForIt$",
	},
	{
		off:  "a creation stays until all late deliveries are done",
		file: "creation.go",
		from: "if c.delivering--; c.delivering == 0 {",
		to:   "if c.delivering--; true {",
		by:   "^TestL3_ContainerEndsDuringTwoLateDeliveries$",
	},
	{
		off:  "a container that has exited is not delivered late",
		file: "list.go",
		from: "c.aborted.Store(true) //",
		to:   "//",
		by:   "^TestL3_ContainerEndsDuringTwoLateDeliveries$",
	},
	{
		off:  "plugins that register at the same time share one bound",
		file: "latecomers.go",
		from: "c.spent += time.Since(start)",
		to:   "_ = time.Since(start)",
		by:   "^TestL22_PeersThatConnectAtOnceCostOneBound$",
	},
	{
		off:  "other plugins do not take the time of a required plugin",
		file: "latecomers.go",
		from: "case c == nil || q.demanded(l):",
		to:   "case c == nil:",
		by:   "^TestL20_OthersDoNotTakeTheTimeOfARequiredPlugin$",
	},
	{
		off:  "a connection that replaces another is no latecomer",
		file: "latecomers.go",
		from: "return slices.Contains(c.late, l)",
		to:   "return slices.Contains(c.late, l) || l.session != nil && l.session.seq > c.begun",
		by:   "^TestL16_PluginsThatAreReplacedMeanwhileAreAsked$",
	},
	{
		off:  "a demand has no more chances than it may",
		file: "required.go",
		from: "|| d.failed >= chances",
		to:   "|| false",
		by:   "^TestL22_SuccessorsOfARequiredPluginCostOneBound$",
	},
	{
		off:  "a demand has more than one chance",
		file: "required.go",
		from: "const chances = 2",
		to:   "const chances = 1",
		by:   "^TestL20_AnotherLatecomerOfTheNameIsEnough$",
	},
	{
		off:  "a caller that waited for a connected plugin is not skipped for its successor",
		file: "lane.go",
		from: "if joined || c.joined {",
		to:   "if joined {",
		by:   "^TestL16_PolicyHoldsAlthoughTheSuccessorCloses$",
	},
	{
		off:  "no caller waits for an event without a subscription",
		file: "ask.go",
		from: "if !s.subscribed(q.event.Kind) {",
		to:   "if false {",
	},
	{
		off:  "the end of a pod ends the creations in it",
		file: "creation.go",
		from: "return c != nil && c.aborted.Load()",
		to:   "return false",
	},
	{
		off:  "the end of a pod is remembered when the pod is gone",
		file: "vanished.go",
		from: "not = append(not, ledger.ID{Pod: pod})",
		to:   "_ = pod",
		by:   "^TestL11_NoContainerIsCreatedInAPodThatIsGone$",
	},
	{
		off:  "all plugins receive an end at once",
		file: "teardown.go",
		from: "if p := l.post(r); p != nil {\n\t\t\tparts = append(parts, p)",
		to:   "if p := l.post(r); p != nil {\n\t\t\tparts = append(parts, p)\n\t\t\te.await(r, parts[len(parts)-1:])",
	},
	{
		off:  "a teardown waits for one bound",
		file: "teardown.go",
		from: "timer := time.NewTimer(wait)",
		to:   "timer := time.NewTimer(9 * wait)",
	},
	{
		off:  "a second stop waits for the first",
		file: "part.go",
		from: "p := l.pending(r)\n\tif p == nil {",
		to:   "p := l.pending(r)\n\tif p != nil {\n\t\treturn nil\n\t}\n\tif p == nil {",
	},
	{
		off:  "a caller that cancels leaves the line",
		file: "lane.go",
		from: "if l.withdraw(c, false) {",
		to:   "if false {",
	},
	{
		off:  "a caller is released when its connection closes",
		file: "session.go",
		from: "c.err = c.lost(joined)\n\t\tclose(c.ready)",
		to:   "c.err = c.lost(joined)",
	},
	{
		off:  "a Synchronize that hangs is cut",
		file: "join.go",
		from: "context.WithTimeout(ctx, timeout)",
		to:   "context.WithTimeout(ctx, 9*timeout)",
	},
	{
		off:  "a request that hangs is cut",
		file: "request.go",
		from: "r.sent.Add(s.requestTimeout(&l.engine.opts))",
		to:   "r.sent.Add(3 * s.requestTimeout(&l.engine.opts))",
	},
	{
		off:  "a caller that cancels is released",
		file: "ask.go",
		from: "case <-q.ctx.Done():\n\t\tif err",
		to:   "case <-(chan int)(nil):\n\t\tif err",
	},
	{
		off:  "a plugin is dropped if its policy says so",
		file: "policy.go",
		from: "return fail, drop && !p.Permanent",
		to:   "return fail, drop && p.Permanent",
	},
	{
		off:  "a teardown reports a plugin that does not answer only if its policy says so",
		file: "part.go",
		from: "if fail, _ := s.policy.Decide(ev.Kind, f); fail {",
		to:   "if fail, _ := s.policy.Decide(ev.Kind, f); fail || true {",
		by:   "^TestL8_UnansweredEventIsAnErrorByPolicy$",
	},
	{
		off:  "the object of a stored end is known, even if an earlier end of it was dropped",
		file: "catchup/recall.go",
		from: "\tg.Miss(missed)\n",
		to:   "\tif p.Disconnected.IsZero() {\n\t\tg.Miss(missed)\n\t}\n",
		by:   "^TestL18_EndIsDeliveredAfterAnEarlierOneWasDropped$",
	},
	{
		off:  "the runtime learns that a connection waits for another to leave",
		file: "succession.go",
		from: "\t\t\te.opts.Waits(s.conn)\n",
		to:   "",
		by:   "^TestL19_ReturningPredecessorWaitsForItsSuccessor$",
	},
	{
		off:  "validators are asked side by side",
		file: "ask.go",
		from: "\t\tall.Add(1)\n",
		to:   "\t\tall.Wait()\n\t\tall.Add(1)\n",
		by:   "^TestValidatorsAreAskedSideBySide$",
	},
	{
		off:  "the line is bounded",
		file: "line.go",
		from: "case len(n.entries) >= b.events:",
		to:   "case false:",
	},
	{
		off:  "a request keeps the turn when its caller has left",
		file: "ask.go",
		from: "r.abandoned = true\n\tsent := r.sent",
		to:   "r.abandoned = true\n\tl.current = nil\n\tl.passOn()\n\tsent := r.sent",
	},
	{
		off:  "an overdue plugin is not asked",
		file: "lane.go",
		from: "case l.overdue():\n\t\terr := l.overdueError()\n\t\tl.mu.Unlock()\n\t\treturn since, err\n\tcase !l.held && !l.paused():",
		to:   "case !l.held && !l.paused() || l.overdue():",
	},
	{
		off:  "callers in the line are released when the plugin becomes overdue",
		file: "overdue.go",
		from: "passed = l.line.callers()",
		to:   "passed = nil",
		by:   "^TestL16_PolicyHoldsForAllWaiters$",
	},
	{
		off:  "no caller waits for the ends of an overdue plugin",
		file: "part.go",
		from: "p.late = l.overdue() || l.session != nil && !l.session.joined",
		to:   "p.late = l.session != nil && !l.session.joined",
		by:   "^TestL22_HungPluginCostsOneTimeout$",
	},
	{
		off:  "a plugin that is no longer overdue is no timeout for a caller that did not wait for it",
		file: "part.go",
		from: "failure, err := Skip, p.passed",
		to:   "failure, err := Skip, error(nil)",
		by:   "^TestL22_ReturningPluginIsNoErrorForOtherWaiters$",
	},
	{
		off:  "a second teardown waits for a plugin that is no longer overdue",
		file: "part.go",
		from: "\tp.passed = nil",
		to:   "\t_ = p.passed",
		by:   "^TestL22_ReturningPluginIsNoErrorForOtherWaiters$",
	},
	{
		off:  "no caller waits for the ends of a plugin that is not synchronized",
		file: "part.go",
		from: "p.late = l.overdue() || l.session != nil && !l.session.joined",
		to:   "p.late = l.overdue()",
		by:   "^TestL13_TeardownDoesNotWaitForJoins$",
	},
	{
		off:  "a missed first event is delivered late",
		file: "ask.go",
		from: "if failure == Skip {\n\t\tq.creation.missedBy(l)",
		to:   "if failure == Skip {\n\t\t_ = q.creation",
	},
	{
		off:  "a pod in Synchronize is not delivered late",
		file: "ledger/begin.go",
		from: "if pod.mark != unknown && (pod.mark != listed || !pod.creating) {",
		to:   "if pod.mark != unknown && pod.mark != listed {",
		by:   "^TestL13_RuntimeWithALockOfItsOwn$",
	},
	{
		off:  "an object that began and ended while a plugin was overdue is not delivered",
		file: "overdue.go",
		from: "if e.late == nil || !slices",
		to:   "if true || e.late == nil || !slices",
		by:   "^TestL22_HungPluginCostsOneTimeout$",
	},
	{
		off:  "a creation that has ended is not delivered late",
		file: "overdue.go",
		from: "if s == nil || c.undone() {",
		to:   "if s == nil {",
		by:   "^TestL3_PodThatEndsMeanwhileIsNotDeliveredLate$",
	},
	{
		off:  "a creation waits one timeout in all for connections that join",
		file: "ask.go",
		from: "opts.SyncTimeout() - q.waited",
		to:   "opts.SyncTimeout()",
		by:   "^TestL13_CreationWaitsOneTimeoutForAllJoins$",
	},
	{
		off:  "other answers take no time from a join",
		file: "lane.go",
		from: "return s.joinedAt.Sub(start)",
		to:   "return time.Since(start)",
		by:   "^TestL13_OthersTakeNoTimeOfAJoin$",
	},
	{
		off:  "a second list has the time of a Synchronize",
		file: "succession.go",
		from: "e.list(ctx, s, e.opts.SyncTimeout())",
		to:   "e.list(ctx, s, e.opts.ListTimeout())",
		by:   "^TestL13_SecondListThatHangsIsCut$",
	},
	{
		off:  "the time after a plugin was synchronized does not count",
		file: "lane.go",
		from: "if s.joined {\n\t\treturn s.joinedAt",
		to:   "if l.session == s && s.joined {\n\t\treturn s.joinedAt",
		by:   "^TestL13_PluginThatIsLostTakesNoTimeOfAJoin$",
	},
	{
		off:  "the earlier requests of a latecomer count",
		file: "ask.go",
		from: "q.putInTime(l)",
		to:   "q.put(l)",
		by:   "^TestL22_LatecomersThatAreBusyCostOneBound$",
	},
	{
		off:  "a peer that does not read is cut",
		file: "join.go",
		from: "case <-bound.Done():",
		to:   "case <-(chan int)(nil):",
	},
	{
		off:  "no join waits for a list forever",
		file: "list.go",
		from: "case <-timer.C:",
		to:   "case <-(chan int)(nil):",
		by:   "^TestL13_ListThatHangsIsCut$",
	},
	{
		off:  "two removals at once are two",
		file: "ended.go",
		from: "if e.removals > 1 {",
		to:   "if false {",
		by:   "^TestL3_TwoRemovalsAtOnce$",
	},
	{
		off:  "a plugin whose last connection was not synchronized is not waited for again",
		file: "lane.go",
		from: "case s.failed && !s.joined:",
		to:   "case false:",
		by:   "^TestL22_FlappingPluginCostsOneTimeout$",
	},
	{
		off:  "only an answer approves for a required plugin",
		file: "required.go",
		from: "d.met = answered && q.suits(d, s)",
		to:   "d.met = (answered || true) && q.suits(d, s)",
	},
	{
		off:  "a plugin without a subscription has not answered",
		file: "required.go",
		from: "return d.OrPresent || s.subscribed(q.event.Kind)",
		to:   "return true",
	},
	{
		off:  "no creation is sealed before all required plugins have answered",
		file: "creation.go",
		from: "case !c.met():",
		to:   "case false:",
		by:   "^TestL20_SealWaitsForTheAnswer$",
	},
	{
		off:  "no plugin is asked before the required plugins are connected",
		file: "creation.go",
		from: "func (q *question) askAll() error {\n\tif err := q.await(); err != nil {",
		to:   "func (q *question) askAll() error {\n\tif err := error(nil); err != nil {",
	},
	{
		off:  "a creation waits for a disconnected required plugin",
		file: "await.go",
		from: "if first.left() <= 0 {",
		to:   "if true {",
	},
	{
		off:  "a creation waits no longer than the requirement says",
		file: "required.go",
		from: "return d.Wait - d.waited",
		to:   "return 2*d.Wait - d.waited",
	},
	{
		off:  "the wait is one for all absences",
		file: "await.go",
		from: "d.waited += time.Since(start)",
		to:   "d.waited = time.Since(start)",
		by:   "^TestL20_WaitIsOneForAllAbsences$",
	},
	{
		off:  "a required plugin that does not answer fails the request, whatever its policy",
		file: "request.go",
		from: "if fail || r.demanded {",
		to:   "if fail {",
		by:   "^TestL20_NoAnswerIsNoApproval$",
	},
	{
		off:  "a creation waits for a required plugin that leaves before it was asked",
		file: "ask.go",
		from: "if demanded && failure == Loss {",
		to:   "if false {",
		by:   "^TestL20_PluginIsLostWhilePodsWait$",
	},
	{
		off:  "no plugin is asked before the required plugins are connected, if one has just left",
		file: "creation.go",
		from: "if err := q.await(); err != nil {\n\t\treturn err\n\t}\n\tfor {",
		to:   "for {",
		by:   "^TestL20_ClosedConnectionIsDisconnectedBeforeItIsNoticed$",
	},
	{
		off:  "the wait before anything is made counts",
		file: "required.go",
		from: "waited: waited[r.Plugin], received",
		to:   "received",
		by:   "^TestL20_WaitBeforeAnythingIsMade$",
	},
	{
		off:  "a connection that has just closed is not asked",
		file: "ask.go",
		from: "case s.lost():",
		to:   "case false:",
		by:   "^TestL20_ClosedConnectionIsNotAsked$",
	},
	{
		off:  "an overdue required plugin fails a creation before any plugin is asked",
		file: "required.go",
		from: "\tcase l.overdue():\n\t\treturn behind",
		to:   "\tcase false:\n\t\treturn behind",
		by:   "^TestL20_OverduePluginFailsAtOnce$",
	},
	{
		off:  "another connection of the name may answer",
		file: "required.go",
		from: "if p := q.nearest(d); unanswered && (p.rank != able && !p.succeeds || d.failed >= chances) {",
		to:   "if unanswered {",
		by:   "^TestL20_OverduePluginFailsAtOnce$",
	},
	{
		off:  "the end of a pod ends its wait",
		file: "teardown.go",
		from: "c.aborted.Store(true)\n\t\t\te.change()",
		to:   "c.aborted.Store(true)",
		by:   "^TestL20_PodThatWaitsCanBeStopped$",
	},
	{
		off:  "time is left for the roll-back",
		file: "timeouts.go",
		from: "time.Until(deadline)/4",
		to:   "time.Until(deadline)/400",
		by:   "^TestL20_ErrorNamesTheDisconnectedPlugin$",
	},
	{
		off:  "a plugin receives the deadline of its caller",
		file: "timeouts.go",
		from: "ok && at.Before(r.due)",
		to:   "ok && false",
		by:   "^TestL16_PluginReceivesTheDeadlineOfItsCaller$",
	},
	{
		off:  "a plugin has its own request timeout",
		file: "timeouts.go",
		from: "cmp.Or(s.timeouts.Request, o.RequestTimeout())",
		to:   "o.RequestTimeout()",
		by:   "^TestL16_PluginMayHaveATimeoutOfItsOwn$",
	},
	{
		off:  "a plugin has its own timeout for Synchronize",
		file: "timeouts.go",
		from: "cmp.Or(s.timeouts.Sync, o.SyncTimeout())",
		to:   "o.SyncTimeout()",
		by:   "^TestL13_PluginMayHaveASyncTimeoutOfItsOwn$",
	},
	{
		off:  "ends are stored for a disconnected plugin",
		file: "part.go",
		from: "\t\tp := l.newPart(r)\n\t\tl.keep(p)\n",
		to:   "\t\tp := l.newPart(r)\n",
	},
	{
		off:  "the undelivered ends of a lane that closes are stored",
		file: "part.go",
		from: "\t\tl.keep(p)\n\t\tl.rest(p, s.wants",
		to:   "\t\tl.rest(p, s.wants",
	},
	{
		off:  "an end that was sent and not answered is delivered to the successor",
		file: "session.go",
		from: "if r != nil && r.part != nil && !r.part.over {",
		to:   "if false {",
		by:   "^TestL19_OverdueFirstIsSucceededAtOnce$",
	},
	{
		off:  "a connection that was never synchronized knows nothing",
		file: "session.go",
		from: "if joined {\n\t\tl.admitUnwanted()",
		to:   "if true {\n\t\tl.admitUnwanted()",
		by:   "^TestL3_ConnectionThatWasNotSynchronizedKnowsNothing$",
	},
	{
		off:  "a pod that is known only by its containers is known to be removed",
		file: "ledger/ledger.go",
		from: "mine.removed = p.removed\n",
		to:   "mine.removed = p.removed && p.mark != unknown\n",
		by:   "^TestL18_ObjectsThatHaveGoneLeaveNothing$",
	},
	{
		off:  "a plugin that wants no ends knows no pod that was removed meanwhile",
		file: "missed.go",
		from: "if s.after == nil {",
		to:   "if s.after == nil && l.record != nil {",
		by:   "^TestL18_ObjectsThatHaveGoneLeaveNothing$",
	},
	{
		off:  "an answered end is no longer missed",
		file: "catchup/record.go",
		from: "r.some = r.delivered(end) > 0",
		to:   "_ = end",
		by:   "^TestL18_TimeoutKeepsMissedEvents$",
	},
	{
		off:  "no end of an object that the runtime still lists is missed",
		file: "catchup/record.go",
		from: "toCome := listed && (end.Kind != ledger.StopPodSandbox || !o.Stopped)",
		to:   "toCome := listed && o.Stopped && false",
	},
	{
		off:  "a plugin that comes back knows what its name knew",
		file: "ledger/ledger.go",
		from: "if mine := g.pods[id]; mine.container(c.id) == nil {",
		to:   "if false {",
		by:   "^TestL18_ReturningPluginKnowsItsObjects$",
	},
	{
		off:  "a late end is stored before the runtime goes on",
		file: "part.go",
		from: "p.late = true\n\tl.keep(p)",
		to:   "p.late = true",
		by:   "^TestL18_MissedStopIsFollowedByItsRemove$",
	},
	{
		off:  "a late end is safe before the runtime goes on",
		file: "teardown.go",
		from: "if r.urgent {",
		to:   "if false {",
		by:   "^TestL18_EndsInTheLineOfAHungPluginOutliveAKill$",
	},
	{
		off:  "a plugin that was connected knows what the runtime lists after a restart",
		file: "catchup/recall.go",
		from: "ledger.Synchronized(there, ledger.New())",
		to:   "ledger.New()",
		by:   "^TestL18_EndsAfterAKillAreDelivered$",
	},
	{
		off:  "the containers of a stopped pod have stopped",
		file: "catchup/recall.go",
		from: "!g.Knows(pod) || g.GoesOn(pod))",
		to:   "!g.Knows(pod) || true)",
		by:   "^TestL18_ContainersOfAStoppedPodHaveStopped$",
	},
	{
		off:  "an object whose creation a kill interrupted is known to the plugins that received it",
		file: "catchup/recall.go",
		from: "g.Know(o.ID(), true)",
		to:   "_ = o",
		by:   "^TestL18_CreationCutByAKillEnds$",
	},
	{
		off:  "an object that is gone after a restart has ended",
		file: "catchup/record.go",
		from: "if r == nil || !r.gone {",
		to:   "if r != nil || !r.gone {",
		by:   "^TestL18_PodGoneAfterARestartHasEnded$",
	},
	{
		off:  "a container that is gone after a restart has ended, if its pod is not known either",
		file: "catchup/record.go",
		from: "!podIs && g.Knows(ledger.ID{Pod: id.Pod})",
		to:   "!podIs",
		by:   "^TestL18_ContainerOfAnUnknownPodIsGoneAfterARestart$",
	},
	{
		off:  "objects whose ends are stored have ended for a plugin that was connected",
		file: "catchup/recall.go",
		from: "g.Miss(missed)",
		to:   "_ = missed",
		by:   "^TestL18_EndHandedInBeforeAKillIsDeliveredOnce$",
	},
	{
		off:  "a pod whose Stop was missed is known",
		file: "ledger/disconnected.go",
		from: "g.reopen(ev.ID())",
		to:   "_ = ev",
		by:   "^TestL18_MissedStopIsFollowedByItsRemove$",
	},
	{
		off:  "a plugin that breaks has not answered, not even late",
		file: "request.go",
		from: "r.err = also(r.err, ErrClosed) //",
		to:   "r.err = also(r.err, r.err) //",
		by:   "^TestL18_StopThatIsLateAndBreaksIsDeliveredAgain$",
	},
	{
		off:  "many missed ends take turns with pods",
		file: "line.go",
		from: "len(n.entries) == 0 || time.Now().Before(n.until)",
		to:   "true",
		by:   "^TestL18_ManyMissedEventsBlockNoPods$",
	},
	{
		off:  "a second connection succeeds the first",
		file: "succession.go",
		from: "case !s.hands || !l.session.hands:",
		to:   "case true:",
		by:   "^TestL19_EventsGoToTheSuccessor$",
	},
	{
		off:  "a connection that has just closed is succeeded",
		file: "succession.go",
		from: "if l != nil && l.session != nil && l.session.lost() {",
		to:   "if l != nil && l.session != nil && false {",
		by:   "^TestL18_PluginThatReturnsAtOnce$",
	},
	{
		off:  "the first receives nothing while its successor is synchronized",
		file: "succession.go",
		from: "return l.engine.opts.RequestTimeout() / 2",
		to:   "return 0",
		by:   "^TestL19_EventsMeanwhileWaitForTheSuccessor$",
	},
	{
		off:  "a slow successor blocks no plugin",
		file: "succession.go",
		from: "return l.engine.opts.RequestTimeout() / 2",
		to:   "return 9 * l.engine.opts.RequestTimeout()",
		by:   "^TestL19_SlowSuccessorReceivesMissedEvents$",
	},
	{
		off:  "successors that fail cost one timeout",
		file: "succession.go",
		from: "if s.failed {",
		to:   "if false {",
		by:   "^TestL19_SuccessorsThatFailCostOneTimeout$",
	},
	{
		off:  "a successor is synchronized with what the first knows",
		file: "succession.go",
		from: "p.Stopped = p.Stopped && !l.ledger.GoesOn(p.ID())",
		to:   "_ = p",
		by:   "^TestL19_FirstFinishesItsRequest$",
	},
	{
		off:  "a successor knows what the name knew",
		file: "ledger/ledger.go",
		from: "for id, p := range former.pods {",
		to:   "for id, p := range map[string]podEntry(nil) {",
		by:   "^TestL19_EventsGoToTheSuccessor$",
	},
	{
		off:  "a successor keeps the line of the first",
		file: "session.go",
		from: "if !inherited {\n\t\tparts",
		to:   "if true {\n\t\tparts",
		by:   "^TestL19_MissedEventsGoToTheSuccessor$",
	},
	{
		off:  "a slow first finishes one request and no more",
		file: "part.go",
		from: "if l.paused() {\n\t\t\tl.putBack(p)",
		to:   "if false {\n\t\t\tl.putBack(p)",
		by:   "^TestL19_FirstFinishesItsRequest$",
	},
	{
		off:  "a successor is not asked for a pod that the first has approved",
		file: "succession.go",
		from: "p.Creating = p.Creating && !l.ledger.Begun(p.Pod)",
		to:   "_ = p",
		by:   "^TestL19_PodUnderWayIsDeliveredOnce$",
	},
	{
		off:  "a successor takes over at once if the first closes",
		file: "session.go",
		from: "next := l.next\n\tif l.hold",
		to:   "var next *session\n\tif l.hold",
		by:   "^TestL19_FirstIsLostDuringTheHandOver$",
	},
	{
		off:  "a successor is asked for what the first did not answer before it was lost",
		file: "request.go",
		from: "l.ledger.Unanswered(r.event)",
		to:   "_ = r.event",
		by:   "^TestL19_PodMissedByTheFirstIsDeliveredLate$",
	},
	{
		off:  "a slow successor receives what began",
		file: "succession.go",
		from: "late = append(late, entry{late: &ev, weight: e.opts.Weigh(ev)})",
		to:   "_ = ev",
		by:   "^TestL19_SlowSuccessorReceivesMissedEvents$",
	},
	{
		off:  "a slow successor receives what ended",
		file: "join.go",
		from: "if ends := l.ended(received, now); len(ends) > 0 {",
		to:   "if ends := l.ended(received, now); false {",
		by:   "^TestL19_SlowSuccessorReceivesMissedEvents$",
	},
	{
		off:  "a successor receives a long creation late",
		file: "creation.go",
		from: "return slices.Contains(c.asked, asked{l, s})",
		to:   "return slices.ContainsFunc(c.asked, func(a asked) bool { return a.lane == l })",
		by:   "^TestL19_CreationThatTakesLongIsDeliveredLate$",
	},
	{
		off:  "a successor knows its Synchronize only once it has answered",
		file: "join.go",
		from: "done := make(chan error, 1)",
		to:   "done := make(chan error, 1)\n\ts.lane.ledger = ledger.Synchronized(received, s.lane.ledger)",
		by:   "^TestL19_FailedSuccessorLeavesTheLedgerOfTheName$",
	},
	{
		off:  "the newest comes next",
		file: "succession.go",
		from: "older = append(older, o)",
		to:   "_ = o",
		by:   "^TestL19_NewestWins$",
	},
	{
		off:  "an end that breaks each connection is dropped",
		file: "missed.go",
		from: "return b.in >= maxLosses",
		to:   "return false",
		by:   "^TestL22_EndThatBreaksEachConnectionIsDropped$",
	},
	{
		off:  "an end counts as missed if it was missed when it was sent",
		file: "request.go",
		from: "case r.missed &&",
		to:   "case r.part != nil && (r.part.missed || r.part.again) &&",
		by:   "^TestL22_EndThatBreaksEachConnectionIsDropped$",
	},
	{
		off:  "a plugin that was succeeded stands back",
		file: "succession.go",
		from: "return s.origin != \"\" && slices.Contains(p.origins, s.origin)",
		to:   "return false",
		by:   "^TestL19_ReturningPredecessorWaitsForItsSuccessor$",
	},
	{
		off:  "one connection of each origin stands back",
		file: "succession.go",
		from: "(o.origin == s.origin ||",
		to:   "(false ||",
		by:   "^TestL19_ReturningPredecessorWaitsForItsSuccessor$",
	},
	{
		off:  "all plugins that register during a creation cost one bound",
		file: "latecomers.go",
		from: "case c.isLate(l) && c.spent >= q.engine.opts.RequestTimeout():",
		to:   "case false:",
		by:   "^TestL22_PeerUnderManyNamesCostsOneBound$",
	},
	{
		off:  "a creation that is sealed while a successor joins is delivered to the successor",
		file: "latecomers.go",
		from: "if l.next != nil {\n\t\t\tlate",
		to:   "if false {\n\t\t\tlate",
		by:   "^TestL19_ContainerIsMadeWhileTheLineStands$",
	},
	{
		off:  "missed ends take turns with stops",
		file: "line.go",
		from: "if n.missedFirst() {",
		to:   "if n.missedFirst() || len(n.missed) > 0 && n.entries[0].caller == nil {",
		by:   "^TestL18_ManyMissedEventsBlockNoStops$",
	},
	{
		off:  "a creation under way is asked of a successor",
		file: "succession.go",
		from: "case e.underWay(o.ID()):",
		to:   "case false:",
		by:   "^TestL19_SuccessorIsAskedForCreationsUnderWay$",
	},
	{
		off:  "nothing is kept of a container whose end the store has dropped and whose pod has gone",
		file: "catchup/record.go",
		from: "if !podIs {\n\t\t\tg.MarkRemoved",
		to:   "if false {\n\t\t\tg.MarkRemoved",
		by:   "^TestL18_DroppedEndsLeaveNothing$",
	},
	{
		off:  "a container that is listed twice ends once",
		file: "ledger/ledger.go",
		from: "p.container(c.Container) == nil {\n\t\t\tg.enter(c.Pod, containerEntry{id: c.Container, mark: listed})",
		to:   "true || p.container(\"\") == nil {\n\t\t\tg.enter(c.Pod, containerEntry{id: c.Container, mark: listed})",
		by:   "^TestLedger$",
		in:   "ledger",
	},
	{
		off:  "the end of a pod that is not stored has a request",
		file: "part.go",
		from: "if p.next > 0 { // it is not stored",
		to:   "if false { // it is not stored",
		by:   "^TestL18_RemovalThatIsNotStoredHasARequest$",
	},
	{
		off:  "an end that the store has dropped fills no line",
		file: "catchup/record.go",
		from: "g.Delivered(end) // nothing",
		to:   "missed = append(missed, Missed{End: end}) // nothing",
		by:   "^TestL18_DroppedEndsFillNoLine$",
	},
	{
		off:  "a name is not forgotten while a successor comes",
		file: "missed.go",
		from: "(s.joined || s.after != nil)",
		to:   "(s.joined || false)",
		by:   "^TestL19_NameIsNotForgottenWhileASuccessorJoins$",
	},
	{
		off:  "an exited container whose Remove is out has gone",
		file: "list.go",
		from: "if b.ended.stage(c.ID()) != leaving {",
		to:   "if true {",
		by:   "^TestL19_ContainerIsRemovedAndStillListed$",
	},
	{
		off:  "an end that is dropped is reported",
		file: "request.go",
		from: "what.Outcome, what.silent = Abandoned, false",
		to:   "_ = what",
		by:   "^TestL22_AbandonedEndIsReported$",
	},
	{
		off:  "a list that fails leaves the record as it is",
		file: "catchup/recall.go",
		from: "\t\tif listed {\n",
		to:   "\t\tif true {\n",
		by:   "^TestL18_ListThatFailsAtAStart$",
	},
	{
		off:  "a container that is listed twice is known once",
		file: "ledger/disconnected.go",
		from: "case g.Knows(id):\n\tcase id.Container",
		to:   "case id.Container == \"\" && g.Knows(id):\n\tcase id.Container",
		by:   "^TestL18_ContainerThatExitsDuringTheList$",
	},
	{
		off:  "a permanent plugin is not dropped when it is overdue for long",
		file: "overdue.go",
		from: "if r.session.policy.Permanent {",
		to:   "if false {",
		by:   "^TestL22_PermanentPluginStays$",
	},
	{
		off:  "a permanent plugin is not dropped when its line is full",
		file: "lane.go",
		from: "case l.session.policy.Permanent:",
		to:   "case false:",
		by:   "^TestL22_PermanentPluginStays$",
	},
	{
		off:  "nothing of a join is kept",
		file: "list.go",
		from: "s.inventory = nil // it is large, and needed once",
		to:   "_ = s",
		by:   "^TestL13_NothingOfAJoinIsKept$",
	},
	{
		off:  "each connection serves the entries that have waited for it before the line is paused",
		file: "lane.go",
		from: "l.waited = len(l.line.entries)",
		to:   "l.waited = 0",
		by:   "^TestL22_HealthySuccessorsByTurnsBlockNothing$",
	},
	{
		off:  "no caller waits for the successor of a lost connection",
		file: "session.go",
		from: "if !errors.Is(s.closed, ErrSucceeded) {",
		to:   "if next := l.session; next == nil {",
		by:   "^TestL13_CallerWaitsForNoSuccessorOfALostFirst$",
	},
	{
		off:  "a successor may inherit a full line",
		file: "line.go",
		from: "if s.after != nil && !s.begun {",
		to:   "if false {",
		by:   "^TestL19_SuccessorInheritsAFullLine$",
	},
	{
		off:  "an end that breaks each successor is dropped",
		file: "request.go",
		from: "(r.part.missed || r.part.again)",
		to:   "r.part.missed",
		by:   "^TestL22_EndThatBreaksEachSuccessorIsDropped$",
	},
	{
		off:  "a required plugin is asked once it is synchronized",
		file: "ask.go",
		from: "case errors.Is(err, errJoining) && q.demanded(l):",
		to:   "case false:",
		by:   "^TestL20_PluginThatIsSynchronizedLateIsAsked$",
	},
	{
		off:  "a stop waits for a successor that wants it",
		file: "part.go",
		from: "wants |= l.next.wants",
		to:   "_ = wants",
		by:   "^TestL10_StopWaitsForASuccessorThatWantsIt$",
	},
	{
		off:  "an end that a successor does not want is settled",
		file: "part.go",
		from: "case !l.session.subscribed(ev.Kind):\n\t\t\tl.answered(ev)",
		to:   "case !l.session.subscribed(ev.Kind):\n\t\t\tl.ledger.Delivered(ev)",
		by:   "^TestL18_EndThatASuccessorDoesNotWantIsSettled$",
	},
	{
		off:  "an object that begins while a plugin comes back has not gone",
		file: "join.go",
		from: "\tif e.records != nil && l.own {\n",
		to:   "\tl.admitUnwanted()\n\tif e.records != nil && l.own {\n",
		by:   "^TestL18_ObjectThatBeginsDuringSynchronizeHasNotGone$",
	},
	{
		off:  "an end comes before a first event behind it",
		file: "lane.go",
		from: "\tmissed := ev // a copy, so that other events need no allocation\n\treturn l.push(entry{late: &missed, unwanted: true}), nil",
		to:   "\t_, err = l.ledger.Admit(ev)\n\treturn nil, err",
		by:   "^TestL2_IdMayBeUsedAgainBehindAnOverduePlugin$",
	},
	{
		off:  "an end of an earlier object ends no later object of its id",
		file: "part.go",
		from: "return nil // parts before it ended an earlier object of the same id",
		to:   "continue",
		by:   "^TestL2_IdMayBeUsedAgainBehindABusyPlugin$",
	},
	{
		off:  "a pod's end is not merged with an earlier one across a container of the pod",
		file: "part.go",
		from: "e.late.EndsWith(*last)",
		to:   "e.late.ID() == last.ID()",
		by:   "^TestL3_TwoLivesOfOneIdLeaveNothing$",
	},
	{
		off:  "a pod that has stopped has stopped for a successor, too",
		file: "ledger/ledger.go",
		from: "was == over || p.Stopped",
		to:   "p.Stopped",
		by:   "^TestL11_NothingBeginsInAPodWhoseStopWaitsForASuccessor$",
	},
	{
		off:  "the engine lists as soon as many containers are unconfirmed",
		file: "vanished.go",
		from: "many == unconfirmed || many > unconfirmed",
		to:   "many >= unconfirmed",
		by:   "^TestListsAreBoundedInNumber$",
	},
	{
		off:  "a plugin receives the end of an object whose first event it does not want",
		file: "overdue.go",
		from: "return !e.unwanted || ",
		to:   "return true || ",
		by:   "^TestL14_NothingWaitsForPluginsWithoutTheSubscription$",
	},
	{
		off:  "an object that is noted again before its missed end ends once",
		file: "overdue.go",
		from: " || !l.session.joined && l.ledger.Knows(e.late.ID())",
		to:   "",
		by:   "^TestL18_PodNotedAgainEndsOnce$",
	},
	{
		off:  "a first event in the line of a plugin that leaves is known",
		file: "session.go",
		from: "\tif joined {\n\t\tl.admitUnwanted()\n\t}\n",
		to:   "",
		by:   "^TestL18_PodBegunWhileAPluginLeavesIsKnown$",
	},
	{
		off:  "a first event in the line is known when a successor takes over",
		file: "join.go",
		from: "\t\tl.admitUnwanted()\n\t\treceived",
		to:   "\t\treceived",
		by:   "^TestL19_PodBeginsAndEndsBeforeASuccessorIsSynchronized$",
	},
	{
		off:  "a caller that waits for a part of another teardown waits until it is safe",
		file: "part.go",
		from: "\tdefer func() { r.urgent = r.urgent || p.urgent }() // also if it is the part of another round\n",
		to:   "\tdefer func() { r.urgent = r.urgent || p.urgent && p.round == r }()\n",
		by:   "^TestL18_SecondTeardownWaitsUntilItIsSafe$",
	},
	{
		off:  "a caller that does not wait for a part of another teardown waits until it is safe",
		file: "part.go",
		from: "\t\tl.keep(p)\n\t\tr.urgent = r.urgent || p.urgent\n\t\treturn nil\n\t}\n\tp.passed",
		to:   "\t\tl.keep(p)\n\t\tr.urgent = r.urgent || p.urgent && p.round == r\n\t\treturn nil\n\t}\n\tp.passed",
		by:   "^TestL18_TeardownPastAnOverduePluginWaitsUntilItIsSafe$",
	},
	{
		off:  "an object in creation ends with its creation",
		file: "succession.go",
		from: "case !known.Knows(o.ID()) && creating[o.ID()]:",
		to:   "case false:\n\t\t\t_ = creating",
		by:   "^TestL3_ContainerIsDroppedBeforeAllAreCaughtUp$",
	},
	{
		off:  "those who agreed to a refused update receive what holds",
		file: "updates.go",
		from: "\t\te.endUpdate(q.event, false)\n",
		to:   "\t\t_ = e\n",
		by:   "^TestL26_RefusedUpdateIsTakenBack$",
	},
	{
		off:  "what holds is in the line once",
		file: "updates.go",
		from: "case l.session == s && !has(l.line.entries, e):",
		to:   "case l.session == s:",
		by:   "^TestL26_RetriesFillNoLine$",
	},
	{
		off:  "what holds is not read during an update",
		file: "overdue.go",
		from: "if !ev.Kind.First() && l.engine",
		to:   "if false && l.engine",
		by:   "^TestL26_WhatHoldsIsNotReadDuringAnUpdate$",
	},
	{
		off:  "what holds waits for the last update",
		file: "updates.go",
		from: "\tif c.updates > 0 {\n\t\treturn nil\n\t}\n",
		to:   "",
		by:   "^TestL26_WhatHoldsWaitsForTheLastUpdate$",
	},
	{
		off:  "updates that overlap are followed by what holds",
		file: "updates.go",
		from: "c.unclear = c.unclear || c.updates > 1",
		to:   "",
		by:   "^TestL26_UpdatesThatOverlapAreFollowedByWhatHolds$",
	},
	{
		off:  "an update that holds is not followed by what holds",
		file: "updates.go",
		from: "if c.unclear || knows != agreed {",
		to:   "if c.unclear || knows != agreed || true {",
		by:   "^TestL26_SkippedPluginReceivesWhatHolds$",
	},
	{
		off:  "a plugin that an update went on without receives what holds",
		file: "updates.go",
		from: "e.updates.asked(o, outdated, q.without)",
		to:   "_ = q.without",
		by:   "^TestL26_SkippedPluginReceivesWhatHolds$",
	},
	{
		off:  "a plugin that joins during an update receives what holds",
		file: "list.go",
		from: "\t\te.updates.list(e.listing)\n",
		to:   "",
		by:   "^TestL26_PluginThatJoinsDuringAnUpdateReceivesWhatHolds$",
	},
	{
		off:  "a successor receives what was refused meanwhile",
		file: "updates.go",
		from: "\t\ts.updated = append(s.updated, e)\n",
		to:   "",
		by:   "^TestL26_SuccessorReceivesWhatWasRefusedMeanwhile$",
	},
	{
		off:  "a successor receives what was updated meanwhile",
		file: "updates.go",
		from: "if l.next != nil && l.next.seq != 0 {",
		to:   "if false {",
		by:   "^TestL26_SuccessorReceivesWhatChangedMeanwhile$",
	},
	{
		off:  "a successor receives what holds once",
		file: "updates.go",
		from: "if !has(l.line.entries, e) {\n\t\t\tl.line.push(e)",
		to:   "if true {\n\t\t\tl.line.push(e)",
		by:   "^TestL26_SuccessorOfAHungPluginReceivesWhatHoldsOnce$",
	},
	{
		off:  "what holds is not forgotten for an update of another part",
		file: "updates.go",
		from: "c.postponed = append(c.postponed, m)",
		to:   "_ = m",
		by:   "^TestL26_WhatHoldsIsNotForgottenAfterAnotherUpdate$",
	},
	{
		off:  "what holds is sent once to a plugin that had it postponed",
		file: "updates.go",
		from: "if !slices.Contains(all, m) {",
		to:   "if true {",
		by:   "^TestL26_WhatHoldsIsNotReadDuringAnUpdate$",
	},
	{
		off:  "an event that is postponed is kept once",
		file: "updates.go",
		from: "!slices.Contains(c.postponed, m) {",
		to:   "true {",
		by:   "^TestL27_AcknowledgementWaitsForTheEndOfAnUpdate$",
	},
	{
		off:  "another connection of the name, side by side, receives no acknowledgement",
		file: "updates.go",
		from: "(of == nil || s.lane == of)",
		to:   "(of == nil || of != nil)",
		by:   "^TestL27_DuplicateReceivesNothing$",
	},
	{
		off:  "a plugin that has connected again receives the acknowledgement",
		file: "updates.go",
		from: "named := s.name == conn.Name() && s.index == conn.Index()",
		to:   "named := s.conn == conn",
		by:   "^TestL27_PluginThatReturnedReceivesTheAcknowledgement$",
	},
	{
		off:  "an error names what took the caller's time",
		file: "out_of_time.go",
		from: "if q.ctx.Err() == nil && !over && !starved {",
		to:   "if !over && !starved {",
		by:   "^TestL28_CallerThatCancelsReadsIt$",
	},
	{
		off:  "the error of a creation names what took its time",
		file: "creation.go",
		from: "return q.blame(err)",
		to:   "return err",
		by:   "^TestL28_ErrorNamesThePluginsThatTookTheTime$",
	},
	{
		off:  "the error of an update names what took its time",
		file: "ask.go",
		from: "return q.blame(q.update())",
		to:   "return q.update()",
		by:   "^TestL28_ErrorNamesThePluginsThatTookTheTime$",
	},
	{
		off:  "the error of another event names what took its time",
		file: "ask.go",
		from: "return q.blame(q.askInTurn())",
		to:   "return q.askInTurn()",
		by:   "^TestL28_ErrorNamesThePluginsThatTookTheTime$",
	},
	{
		off:  "the error of a validation names what took its time",
		file: "ask.go",
		from: "whole.uses = append(whole.uses, part.uses...)",
		to:   "_ = part",
		by:   "^TestL28_ErrorNamesTheValidatorsThatTookTheTime$",
	},
	{
		off:  "a starved plugin that rejects names the others",
		file: "out_of_time.go",
		from: "starved := q.starved && errors.As(err, &failed) && failed.Failure == Rejection",
		to:   "starved := false && errors.As(err, &failed)",
		by:   "^TestL28_RejectionOfAStarvedPluginNamesTheOthers$",
	},
	{
		off:  "a plugin that had its timeout was not starved",
		file: "out_of_time.go",
		from: "if !end.Before(r.due) {",
		to:   "if false {",
		by:   "^TestL28_OtherFailuresNameNoOtherPlugin$",
	},
	{
		off:  "a plugin that has more time than others took is not starved",
		file: "out_of_time.go",
		from: "return before > end.Sub(r.sent)",
		to:   "return before > 0",
		by:   "^TestL28_RejectionOfAStarvedPluginNamesTheOthers$",
	},
	{
		off:  "a plugin that ends with the deadline is out of time",
		file: "out_of_time.go",
		from: "if q.ctx.Err() == nil && !over && !starved {",
		to:   "if q.ctx.Err() == nil && !starved {",
		by:   "^TestL28_PluginThatEndsWithTheDeadlineIsOutOfTime$",
	},
	{
		off:  "a lost connection has nothing to do with the time",
		file: "out_of_time.go",
		from: " && failed.Failure == Rejection",
		to:   "",
		by:   "^TestL28_OtherFailuresNameNoOtherPlugin$",
	},
	{
		off:  "the wait for a required plugin is named",
		file: "out_of_time.go",
		from: "o.Uses = append(o.Uses, Use{d.Plugin, true, d.waited})",
		to:   "_ = d",
		by:   "^TestL28_WaitForARequiredPluginCounts$",
	},
	{
		off:  "a wait before the pod is made counts",
		file: "creation.go",
		from: "q.had += d.waited",
		to:   "_ = d",
		by:   "^TestL28_WaitForARequiredPluginCounts$",
	},
	{
		off:  "the time that plugins had is of a caller whose deadline has passed",
		file: "out_of_time.go",
		from: "if over || starved {",
		to:   "if !q.deadline.IsZero() {",
		by:   "^TestL28_CallerThatCancelsReadsIt$",
	},
	{
		off:  "an error without a cause in time stays as it is",
		file: "out_of_time.go",
		from: "if o.Usage() == \"\" {",
		to:   "if false {",
		by:   "^TestL28_CallerThatCancelsAtOnceReadsNothingElse$",
	},
	{
		off:  "plugins that do not subscribe have no share",
		file: "share.go",
		from: "s.subscribed(q.event.Kind) && !l.overdue()",
		to:   "!l.overdue()",
		by:   "^TestL28_PluginsLearnTheirShares$",
	},
	{
		off:  "an overdue plugin has no share",
		file: "share.go",
		from: "s.subscribed(q.event.Kind) && !l.overdue()",
		to:   "s.subscribed(q.event.Kind)",
		by:   "^TestL28_PluginsLearnTheirShares$",
	},
	{
		off:  "what a plugin does not need goes to those behind it",
		file: "share.go",
		from: "t > each",
		to:   "true",
		by:   "^TestL28_ShareOfAPlugin$",
	},
	{
		off:  "the last plugin has all that is left",
		file: "share.go",
		from: "needed == 0 || timeout+needed <= left",
		to:   "timeout+needed <= left",
		by:   "^TestL28_ShareIsOfTheTimeAfterTheWait$",
	},
	{
		off:  "enough time is not shared",
		file: "share.go",
		from: "if of <= 0 || of >= timeout {",
		to:   "if of <= 0 {",
		by:   "^TestL28_EnoughTimeIsNotShared$",
	},
	{
		off:  "a successor receives what was updated after what it inherits",
		file: "join.go",
		from: "\tl.line.putBack(late...)\n\tl.whatChanged(s)\n",
		to:   "\tinherited := l.line.entries\n\tl.line.entries = nil\n\tl.whatChanged(s)\n\tl.line.entries = append(l.line.entries, inherited...)\n\tl.line.putBack(late...)\n",
		by:   "^TestL26_SuccessorReceivesWhatChangedAfterItsBeginning$",
	},
	{
		off:  "a plugin that answered too late receives what holds",
		file: "updates.go",
		from: "e.updates.asked(o, outdated, q.without)",
		to:   "e.updates.asked(o, unsure, q.without)",
		by:   "^TestL26_LateAnswerIsNoPartOfTheUpdate$",
	},
	{
		off:  "a plugin that rejected an update does not receive what holds",
		file: "updates.go",
		from: "case err == nil:\n\t\t\taccepted",
		to:   "case err == nil || true:\n\t\t\taccepted",
		by:   "^TestL26_RefusedUpdateIsTakenBack$",
	},
	{
		off:  "a plugin that may still agree receives what holds",
		file: "updates.go",
		from: "\t\t\topen = append(open, r.session)\n",
		to:   "",
		by:   "^TestL26_CanceledUpdateIsTakenBack$",
	},
	{
		off:  "a plugin that has received an update does not receive it late",
		file: "updates.go",
		from: "if !slices.ContainsFunc(q.sent, func(r *request) bool { return r.session == s }) {",
		to:   "{",
		by:   "^TestL26_SkippedPluginReceivesUpdatesLate$",
	},
	{
		off:  "updates with content are all in the line",
		file: "updates.go",
		from: "return e.late.Request == nil && slices",
		to:   "return slices",
		by:   "^TestL26_SkippedPluginReceivesUpdatesLate$",
	},
	{
		off:  "updates end with their object",
		file: "teardown.go",
		from: "\t\te.updates.drop(ev)\n",
		to:   "",
		by:   "^TestL26_EndOfAnObjectEndsItsUpdates$",
	},
	{
		off:  "what holds ends with its container",
		file: "ledger/begin.go",
		from: "admitted, _ := g.Admit(ev) // no error: it begins nothing\n\t\treturn admitted",
		to:   "return true",
		by:   "^TestL26_EndOfAContainerEndsWhatHolds$",
	},
	{
		off:  "an answer to what holds belongs to no update",
		file: "updates.go",
		from: "Container: ev.Container, Late: true}",
		to:   "Container: ev.Container}",
		by:   "^TestL26_NoCallerWaitsForWhatHolds$",
	},
	{
		off:  "a pod with an object in creation ends with that creation",
		file: "succession.go",
		from: "creating[id], creating[ledger.ID{Pod: id.Pod}] = true, true",
		to:   "creating[id] = true",
		by:   "^TestL3_ContainerIsDroppedBeforeAllAreCaughtUp$",
	},
	{
		off:  "an object that is gone after a restart has ended before later ends",
		file: "catchup/recall.go",
		from: "r.MissGone(g, there) // while",
		to:   "// while",
		by:   "^TestL18_CreationCutByAKillEndsBeforeItsPod$",
	},
}

// found matches how a test reports a broken rule: by the id of the rule, by goroutines that wait
// forever, or by objects that are kept forever; a test of one rule by its name.
var found = regexp.MustCompile(`L\d+: .*|deadlock.*|the (engine|ledger) .*keeps.*|FAIL: Test\w+.*`)

// seedsFile keeps, for each mutation that no test of one rule finds, the seed of a play of
// TestContract that finds it.
const seedsFile = "testdata/seeds.json"

var renewSeeds = flag.Bool("renew-seeds", false, "search for plays that find the mutations which the kept ones do not find")

// TestMutations shows that the tests find each rule that is switched off, and leaves nothing to
// chance: a test of that rule finds it, or a play of TestContract whose seed is kept. The moves
// of a play are the same each time, but the order in which its goroutines run is not: the play is
// repeated until it finds the mutation. Random plays are make search.
func TestMutations(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the engine once for each mutation")
	}
	seeds := readSeeds(t)
	cache := t.TempDir() // the 14 MB that are compiled for each mutant are not used again
	for _, m := range mutations {
		t.Run(strings.ReplaceAll(m.off, " ", "_"), func(t *testing.T) {
			t.Parallel() // compiler and linker use one processor most of the time
			mutated := build(t, m, cache)
			seed := seeds.of(m.off)
			if *renewSeeds && m.by == "" && !mutated.always(seed) {
				seed = mutated.search(t)
				seeds.keep(t, m.off, seed)
			}
			args := []string{"-test.run", m.by}
			if m.by == "" {
				args = append(onePlay(seed), "-test.run", "^TestContract$")
			}
			out, missed := mutated.run(append(args, "-test.count", "50", "-test.failfast")...)
			require.True(t, missed, "the rule is not missed. If the draws of TestContract have changed: "+
				"go test -timeout 60m -run TestMutations ./internal/nri/lifecycle -renew-seeds\n%s", out)
			first := found.FindString(out)
			require.NotEmpty(t, first, "%s", out[:min(len(out), 4000)])
			t.Logf("found: %s", first)
		})
	}
	t.Run("each seed has a mutation", func(t *testing.T) {
		for off := range seeds.kept {
			assert.True(t, slices.ContainsFunc(mutations, func(m mutation) bool { return m.off == off && m.by == "" }), off)
		}
	})
}

// A mutant is a test program with a mutation.
type mutant struct{ program string }

// build compiles a mutant, into a build cache that all mutants share.
func build(t *testing.T, m mutation, cache string) mutant {
	dir, err := os.Getwd()
	require.NoError(t, err)
	path := filepath.Join(dir, m.file)
	source, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(string(source), m.from), "occurrences in %s of %q", m.file, m.from)

	// CGO_ENABLED=0: the imports of the engine are compiled without a C compiler.
	return compile(t, "./"+m.in, []string{"GOCACHE=" + cache, "CGO_ENABLED=0"}, map[string]string{path: strings.Replace(string(source), m.from, m.to, 1)})
}

// compile compiles the test program of a folder with some files replaced.
func compile(t *testing.T, folder string, env []string, replaced map[string]string, flags ...string) mutant {
	shown := make(map[string]string)
	for path, text := range replaced {
		shown[path] = filepath.Join(t.TempDir(), filepath.Base(path))
		require.NoError(t, os.WriteFile(shown[path], []byte(text), 0o600))
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": shown})
	require.NoError(t, err)
	overlayFile := filepath.Join(t.TempDir(), "overlay.json")
	require.NoError(t, os.WriteFile(overlayFile, overlay, 0o600))

	program := filepath.Join(t.TempDir(), "lifecycle.test")
	args := append([]string{"test", "-c", "-trimpath", "-vet=off", "-ldflags=-s -w", "-overlay", overlayFile, "-o", program}, flags...)
	cmd := exec.CommandContext(t.Context(), "go", append(args, folder)...)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return mutant{program}
}

// plays returns the flags for some plays of TestContract: it is enough if one breaks a rule.
func plays(checks string, seed uint64) []string {
	return []string{"-rapid.nofailfile", "-rapid.shrinktime", "0s", "-rapid.checks", checks, "-rapid.seed", strconv.FormatUint(seed, 10)}
}

func onePlay(seed uint64) []string { return plays("1", seed) }

// run runs tests of a mutant, and reports whether they fail.
func (m mutant) run(args ...string) (out string, missed bool) {
	args = append([]string{"-test.timeout", "2m"}, args...)
	text, err := exec.Command(m.program, args...).CombinedOutput()
	return string(text), err != nil
}

// always reports whether a play breaks a rule in whatever order its goroutines run, as far as
// repeating it shows.
func (m mutant) always(seed uint64) bool {
	for _, processors := range []string{"1", "2", "4"} {
		for range 30 {
			if _, missed := m.run(append(onePlay(seed), "-test.run", "^TestContract$", "-test.cpu", processors)...); !missed {
				return false
			}
		}
	}
	return true
}

// search returns the seed of a play that always breaks a rule.
func (m mutant) search(t *testing.T) uint64 {
	printed := regexp.MustCompile(`-rapid\.seed=(\d+)`)
	for range 20 {
		out, missed := m.run(append(plays("30000", 0), "-test.run", "^TestContract$")...)
		if of := printed.FindStringSubmatch(out); missed && of != nil {
			seed, err := strconv.ParseUint(of[1], 10, 64)
			require.NoError(t, err)
			if m.always(seed) {
				return seed
			}
		}
	}
	require.Fail(t, "no play finds it each time: write a test of the rule, and name it in the mutation")
	return 0
}

// seeds are what seedsFile keeps.
type seeds struct {
	mu   sync.Mutex // guards kept
	kept map[string]uint64
}

func readSeeds(t *testing.T) *seeds {
	text, err := os.ReadFile(seedsFile)
	require.NoError(t, err)
	s := &seeds{}
	require.NoError(t, json.Unmarshal(text, &s.kept))
	return s
}

func (s *seeds) of(off string) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.kept[off]
}

func (s *seeds) keep(t *testing.T, off string, seed uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept[off] = seed
	text, err := json.MarshalIndent(s.kept, "", "\t")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(seedsFile, append(text, '\n'), 0o600))
}
