// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"fmt"
	"os/exec"
	"strings"
	"syscall"

	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// point is a place in the creation of a pod, at which a program or a plugin
// holds it.
type point struct {
	program node.Point
	hook    hook // in place of a program
	kind    kind // of pod
	refused bool // the second plugin refused the pod, so that it is being undone
}

// hook is an event that a plugin holds: the first, the second, or the third,
// which joins while the pod is created.
type hook struct {
	plugin string
	event  plugin.Event
}

// kind of pod, by what it shares with the host.
type kind string

const (
	usual       kind = ""
	hostNetwork kind = "host-network"
	userns      kind = "user-namespace"
)

// Wave are points at which pods can be held at the same time.
type Wave struct {
	Name   string
	points []point
	Stock  breaches
}

// breaches are how stock breaks what is promised of a wave's pods when their
// callers go, and when the runtime is killed.
type breaches struct{ Gone, Killed breachesOf }

// breachesOf are by promise: that the pods get to where they are held, that none
// is ready afterwards, that nothing is left of them, that their end is told, and
// that they can be created again.
type breachesOf struct{ Held, Ready, Left, Told, Again Breach }

// How stock breaks what is promised of the pods of waves.
var (
	LeavesShim      = SometimesOnStock("a shim that is being started is left behind")
	untold          = SometimesOnStock("plugins that know a pod are not told that its creation was undone")
	TakesForPlugins = SometimesOnStock("it takes the end of the callers' time for that of a plugin's, and the pods run")
	varies          = SometimesOnStock("what is undone, and who is told, depends on timing")
	untoldCut       = OnStock("nobody is told of the end of pods that a restart cut")
	stranger        = SometimesOnStock("plugins that were not asked for a pod get Stop and Remove")
	waits           = OnStock("a plugin that synchronizes keeps all others from being asked")
	deadHook        = OnStock("a pod whose hook was cut by a restart is ready afterwards")
	deadUndo        = OnStock("a refused pod whose undoing was cut by a restart is ready afterwards")
)

// What several waves have in common.
var (
	untoldUndo = breachesOf{Left: RollBackRaces, Told: untold, Again: RollBackRaces}
	anyWay     = breachesOf{Left: varies, Told: varies, Again: varies}
	cutInHook  = breachesOf{Ready: deadHook, Told: untoldCut}
	cutInUndo  = breachesOf{Ready: deadUndo, Told: untoldCut}
)

// RuncShim is the program that containerd starts for a pod.
const RuncShim = "containerd-shim-runc-v2"

// Waves are ordered as what they hold comes in a creation. A plugin gets one
// event at a time, so each hook has a wave of its own.
var Waves = []Wave{
	{Name: "network", points: []point{
		{program: node.Before("loopback", "ADD")},
		{program: node.Before("ptp", "ADD")},
		{program: node.Before("host-local", "ADD")},
		{program: node.After("host-local", "ADD")},
		{program: node.After("ptp", "ADD")},
		{program: node.Before("pass", "ADD")},
		{program: node.After("pass", "ADD")},
	}, Stock: breaches{Killed: breachesOf{Told: untoldCut}}},
	{Name: "process", points: []point{
		{program: node.Before(RuncShim, "start")},
		{program: node.After(RuncShim, "start")},
		{program: node.Before("runc", "create")},
		{program: node.After("runc", "create")},
		{program: node.Before("runc", "start")},
		{program: node.After("runc", "start")},
		{program: node.After("runc", "create"), kind: hostNetwork},
	}, Stock: breaches{
		Gone:   breachesOf{Left: LeavesShim, Again: LeavesShim},
		Killed: breachesOf{Left: LeavesShim, Told: untoldCut, Again: LeavesShim},
	}},
	{Name: "user namespace", points: []point{
		{program: node.After("ptp", "ADD"), kind: userns},
		{program: node.After("runc", "create"), kind: userns},
	}, Stock: breaches{Gone: anyWay, Killed: breachesOf{Told: untoldCut}}},
	{Name: "first hook", points: []point{{hook: hook{"first", plugin.RunPodSandbox}}}, Stock: breaches{Gone: anyWay, Killed: cutInHook}},
	{Name: "last hook", points: []point{{hook: hook{"second", plugin.RunPodSandbox}}}, Stock: breaches{Gone: untoldUndo, Killed: cutInHook}},
	{Name: "last hook, host network", points: []point{{hook: hook{"second", plugin.RunPodSandbox}, kind: hostNetwork}}, Stock: breaches{Gone: untoldUndo, Killed: cutInHook}},
	{Name: "last hook, user namespace", points: []point{{hook: hook{"second", plugin.RunPodSandbox}, kind: userns}}, Stock: breaches{Gone: untoldUndo, Killed: cutInHook}},
	{Name: "hook of who joins", points: []point{{hook: hook{"third", plugin.Synchronize}}}, Stock: breaches{
		Gone:   breachesOf{Held: waits, Left: RollBackRaces, Told: stranger, Again: RollBackRaces},
		Killed: breachesOf{Held: waits, Ready: deadHook, Told: untoldCut},
	}},
	{Name: "undo in Stop", points: []point{{hook: hook{"first", plugin.StopPodSandbox}, refused: true}}, Stock: breaches{Gone: untoldUndo, Killed: cutInUndo}},
	{Name: "undo in Remove", points: []point{{hook: hook{"first", plugin.RemovePodSandbox}, refused: true}}, Stock: breaches{Gone: untoldUndo, Killed: cutInUndo}},
	{Name: "undo", points: []point{
		{program: node.Before("runc", "kill"), refused: true},
		{program: node.After("runc", "kill"), refused: true},
		{program: node.Before("runc", "delete"), refused: true},
		{program: node.After("runc", "delete"), refused: true},
		{program: node.Before("pass", "DEL"), refused: true},
		{program: node.Before("ptp", "DEL"), refused: true},
		{program: node.After("host-local", "DEL"), refused: true},
		{program: node.After("ptp", "DEL"), refused: true},
		{program: node.Before("runc", "delete"), kind: hostNetwork, refused: true},
	}, Stock: breaches{Gone: breachesOf{Held: RollBackRaces, Left: RollBackRaces, Again: RollBackRaces}, Killed: cutInUndo}},
}

// Pod is the name of the pod that is held there.
func (p point) Pod() string {
	words := []string{p.program.String()}
	if p.hook.event != "" {
		words = []string{p.hook.plugin, string(p.hook.event)}
	}
	if p.kind != usual {
		words = append(words, string(p.kind))
	}
	return strings.ReplaceAll(strings.ToLower(strings.Join(words, "-")), " ", "-")
}

// needs tells what the host lacks for a wave.
func (w Wave) needs() error {
	if w.points[0].kind != userns {
		return nil
	}
	program := exec.Command(Pause, "-now")
	ids := []syscall.SysProcIDMap{{HostID: 1 << 16, Size: 1 << 16}}
	program.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER, UidMappings: ids, GidMappings: ids}
	if err := program.Run(); err != nil {
		return fmt.Errorf("%w: no user namespaces: %w", node.ErrPrerequisite, err)
	}
	return nil
}

// config is of the pod's kind.
func (p point) config(n *node.Node) *runtime.PodSandboxConfig {
	config := n.CRI().Pod(p.Pod())
	namespaces := config.Linux.SecurityContext.NamespaceOptions
	switch p.kind {
	case hostNetwork:
		config.Hostname, namespaces.Network = "", runtime.NamespaceMode_NODE
	case userns:
		ids := []*runtime.IDMapping{{HostId: 1 << 16, Length: 1 << 16}}
		namespaces.UsernsOptions = &runtime.UserNamespace{Mode: runtime.NamespaceMode_POD, Uids: ids, Gids: ids}
	}
	return config
}
