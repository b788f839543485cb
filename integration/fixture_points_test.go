// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"os/exec"
	"strings"
	"syscall"

	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

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

// wave are points at which pods can be held at the same time.
type wave struct {
	name   string
	points []point
	stock  breaches
}

// breaches are how stock breaks what is promised of a wave's pods when their
// callers go, and when the runtime is killed.
type breaches struct{ gone, killed breachesOf }

// breachesOf are by promise: that the pods get to where they are held, that none
// is ready afterwards, that nothing is left of them, that their end is told, and
// that they can be created again.
type breachesOf struct{ held, ready, left, told, again breach }

var (
	leavesShim      = onStock("a shim that is being started is left behind")
	untold          = onStock("plugins that know a pod are not told that its creation was undone")
	takesForPlugins = sometimesOnStock("it takes the end of the callers' time for that of a plugin's, and the pods run")
	varies          = sometimesOnStock("what is undone, and who is told, depends on timing")
	untoldCut       = onStock("nobody is told of the end of pods that a restart cut")
	stranger        = onStock("plugins that were not asked for a pod get Stop and Remove")
	waits           = onStock("a plugin that synchronizes keeps all others from being asked")
	deadHook        = onStock("a pod whose hook was cut by a restart is ready afterwards")
	deadUndo        = onStock("a refused pod whose undoing was cut by a restart is ready afterwards")
)

// What several waves have in common.
var (
	untoldUndo = breachesOf{left: rollBackRaces, told: untold, again: rollBackRaces}
	anyWay     = breachesOf{left: varies, told: varies, again: varies}
	cutInHook  = breachesOf{ready: deadHook, told: untoldCut}
	cutInUndo  = breachesOf{ready: deadUndo, told: untoldCut}
)

const shim = "containerd-shim-runc-v2"

// waves are ordered as what they hold comes in a creation. A plugin gets one
// event at a time, so each hook has a wave of its own.
var waves = []wave{
	{name: "network", points: []point{
		{program: node.Before("loopback", "ADD")},
		{program: node.Before("ptp", "ADD")},
		{program: node.Before("host-local", "ADD")},
		{program: node.After("host-local", "ADD")},
		{program: node.After("ptp", "ADD")},
		{program: node.Before("pass", "ADD")},
		{program: node.After("pass", "ADD")},
	}, stock: breaches{killed: breachesOf{told: untoldCut}}},
	{name: "process", points: []point{
		{program: node.Before(shim, "start")},
		{program: node.After(shim, "start")},
		{program: node.Before("runc", "create")},
		{program: node.After("runc", "create")},
		{program: node.Before("runc", "start")},
		{program: node.After("runc", "start")},
		{program: node.After("runc", "create"), kind: hostNetwork},
	}, stock: breaches{
		gone:   breachesOf{left: leavesShim, again: leavesShim},
		killed: breachesOf{left: leavesShim, told: untoldCut, again: leavesShim},
	}},
	{name: "user namespace", points: []point{
		{program: node.After("ptp", "ADD"), kind: userns},
		{program: node.After("runc", "create"), kind: userns},
	}, stock: breaches{gone: anyWay, killed: breachesOf{told: untoldCut}}},
	{name: "first hook", points: []point{{hook: hook{"first", plugin.RunPodSandbox}}}, stock: breaches{gone: anyWay, killed: cutInHook}},
	{name: "last hook", points: []point{{hook: hook{"second", plugin.RunPodSandbox}}}, stock: breaches{gone: untoldUndo, killed: cutInHook}},
	{name: "last hook, host network", points: []point{{hook: hook{"second", plugin.RunPodSandbox}, kind: hostNetwork}}, stock: breaches{gone: untoldUndo, killed: cutInHook}},
	{name: "last hook, user namespace", points: []point{{hook: hook{"second", plugin.RunPodSandbox}, kind: userns}}, stock: breaches{gone: untoldUndo, killed: cutInHook}},
	{name: "hook of who joins", points: []point{{hook: hook{"third", plugin.Synchronize}}}, stock: breaches{
		gone:   breachesOf{held: waits, left: rollBackRaces, told: stranger, again: rollBackRaces},
		killed: breachesOf{held: waits, ready: deadHook, told: untoldCut},
	}},
	{name: "undo in Stop", points: []point{{hook: hook{"first", plugin.StopPodSandbox}, refused: true}}, stock: breaches{gone: untoldUndo, killed: cutInUndo}},
	{name: "undo in Remove", points: []point{{hook: hook{"first", plugin.RemovePodSandbox}, refused: true}}, stock: breaches{gone: untoldUndo, killed: cutInUndo}},
	{name: "undo", points: []point{
		{program: node.Before("runc", "kill"), refused: true},
		{program: node.After("runc", "kill"), refused: true},
		{program: node.Before("runc", "delete"), refused: true},
		{program: node.After("runc", "delete"), refused: true},
		{program: node.Before("pass", "DEL"), refused: true},
		{program: node.Before("ptp", "DEL"), refused: true},
		{program: node.After("host-local", "DEL"), refused: true},
		{program: node.After("ptp", "DEL"), refused: true},
		{program: node.Before("runc", "delete"), kind: hostNetwork, refused: true},
	}, stock: breaches{gone: breachesOf{held: rollBackRaces, left: rollBackRaces, again: rollBackRaces}, killed: cutInUndo}},
}

// pod is the name of the pod that is held there.
func (p point) pod() string {
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
func (w wave) needs() error {
	if w.points[0].kind != userns {
		return nil
	}
	program := exec.Command(pause, "-now")
	ids := []syscall.SysProcIDMap{{HostID: 1 << 16, Size: 1 << 16}}
	program.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER, UidMappings: ids, GidMappings: ids}
	if err := program.Run(); err != nil {
		return fmt.Errorf("%w: no user namespaces: %w", node.ErrPrerequisite, err)
	}
	return nil
}

// config is of the pod's kind.
func (p point) config(n *node.Node) *runtime.PodSandboxConfig {
	config := n.CRI().Pod(p.pod())
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
