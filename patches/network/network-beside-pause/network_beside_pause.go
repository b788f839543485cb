// SPDX-License-Identifier: Apache-2.0

package networkbesidepause

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/containerd"
)

// NetworkBesidePause attaches a pod to its network while its pause container is created.
var NetworkBesidePause = edit.Patch{
	Slug:    "network-beside-pause",
	Module:  "containerd",
	Subject: "cri: attach a pod's network while its pause container is created",
	Body: `About a quarter of the time that a pod takes to start is the CNI ADD,
and nothing else happens meanwhile. About half of it is the start of the
shim and runc's creation of the pause container, which do not need the
network.

Run the ADD beside them. The pause container is started when the ADD has
succeeded. Until then its init process waits in the pod's network
namespace, which exists already. If the ADD fails, the start ends, and
both are rolled back like any creation that fails at the start. If the
start fails, the ADD goes on to its end, for two minutes at most, and
DEL gets its result: a plugin that is killed between an allocation and
its record leaks the allocation for good. As before, only a caller that
cancels ends an ADD early. The pod's addresses are recorded while runc
starts the container, and are added to the record of the pause container
afterwards.

This holds for the shim for runc with runc. How another runtime uses the
network of a pod before its start is not known: one with a virtual
machine reads the interfaces. So for other runtimes the ADD comes first.
It also comes first if the pod sets sysctls of the network, because an
ADD may rely on them and runc sets them when it creates the container.
The sysctls that containerd sets for each pod concern no interface. They
are set again after the ADD, so that they override changes by a plugin
of the chain, as they did when the ADD came first. For this reason the
ADD comes first if containerd cannot write to /proc/sys.

A sandbox without a process, which runc's shim makes, waits for its
network between its creation and its start.

A shim and an init process for each pod that waits for its network would
be a burden if the network is slow or down. So the ADD also comes first
while four other ADDs run beside a pause container, and after an ADD
that failed. The number is a setting; with 0, the ADD always comes
first.

Only CRI uses this. Listeners of containerd's events see the container
and task of a pod before its ADD has ended, and their end if the ADD
fails. A CNI plugin may find runc's init process in the namespace and in
the cgroup. An application starts sooner after its ADD. If containerd is
killed before the addresses are in the container's record, an unpatched
containerd shows none.`,
	Rules:  []string{"L1", "L7", "L15"},
	Status: edit.Upstream,
	Until:  "CNI ADD runs while the pause container is created",
	Needs: []string{
		"containerd/start-under-lease", "containerd/await-plugins", "containerd/pod-spans",
		"containerd/network-detach", "containerd/pods-without-pause",
	},
	Edits: []edit.Edit{
		containerd.CNIConfig.AddField(`
// NetworkAddsBesidePause is how many pods at most are attached to their network while their pause
// container is created. Each of them holds a shim and an init process until its ADD ends. With 0,
// the ADD always comes first.
NetworkAddsBesidePause uint32 ` + "`toml:\"adds_beside_pause\" json:\"addsBesidePause\"`" + `
`),
		containerd.UnixDefaults.After(edit.Key("NetworkDelPatience"), "NetworkAddsBesidePause:     4,"),
		containerd.CNIDefaults.After("      adds_beside_pause = 4"),
		edit.In("internal/cri/server/podsandbox/sandbox_run.go", edit.Method("Controller", "Start")).
			Before(edit.Stmt(edit.Define("nric")), `if err := BeforeStart(ctx, metadata.NetNSPath, spec); err != nil {
	return cin, err
}
`),
		edit.In("internal/cri/server/podsandbox/controller.go", edit.Method("Controller", "Update")).
			Replace(edit.Stmt(edit.Return("nil")), "return c.updateNetwork(ctx, sandboxID, sandbox, fields)"),
		containerd.ServiceType.AddField("\n// networkPace decides which ADDs run beside the creation of a pause container.\nnetworkPace networkPace"),
		containerd.Run.Before(edit.Stmt(edit.If("!hostNetwork(config)")), "var network *attachment // nil if CNI gives the pod no network\n"),
		containerd.Run.Replace(edit.Stmt(edit.Mentions("c.setupPodNetwork(ctx, &sandbox)")), `network = c.beginAttachment(ctx, sandbox, sandboxInfo, besideNetwork(ociRuntime, runtimeOpts, config) && c.networkPace.enter(c.config.NetworkAddsBesidePause))
defer network.end(&sandbox)
if network.comesFirst() {
	if sandboxInfo, err = network.finish(ctx, &sandbox, creation); err != nil {
		return nil, err
	}
}`),
		containerd.Run.Before(edit.Stmt(edit.Call("c.sandboxService.StartSandbox")), `if sandboxInfo, err = network.created(ctx, sandboxInfo, &sandbox, creation); err != nil {
	return nil, err
}
`),
		containerd.Run.Delete(edit.Stmt(edit.Call("creation.Update")).Within(edit.If("!hostNetwork(config)"))),
		containerd.Run.Delete(edit.Stmt(edit.Call("sandboxCreateNetworkTimer.UpdateSince"))),
		containerd.Run.Delete(edit.Stmt(edit.Mentions("c.recordSandbox(ctx, sandboxInfo, &sandbox)")).Within(edit.If("!hostNetwork(config)"))),
		containerd.Run.Delete(edit.Stmt(edit.Define("netStart"))),
		containerd.Run.Replace(edit.Expr("leases.WithLease(ctx, ls.ID)"), "leases.WithLease(network.before(ctx, &sandbox, creation), ls.ID)"),
		containerd.Run.Replace(edit.Expr(`fmt.Errorf("failed to start sandbox %q: %w", id, err)`), `network.explain(fmt.Errorf("failed to start sandbox %q: %w", id, err))`),
		containerd.Run.Before(edit.Stmt(edit.Assign("sandboxInfo.Labels")), `if sandboxInfo, err = network.record(ctx, sandboxInfo); err != nil {
	return nil, err
}
`),
	},
}
