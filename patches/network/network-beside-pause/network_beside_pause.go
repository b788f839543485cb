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
	Body: `Of the time that a pod takes to start about a quarter is the CNI ADD, in which
nothing else is done, and half of it the start of the shim and runc's creation of
the pause container, which do not need the network.

Run the ADD beside them. The pause container is started when the ADD has succeeded;
until then its init process waits, in the pod's network namespace, which was made
before. If the ADD fails, the start ends, and both are rolled back like any creation
that fails at the start. If the start fails, the ADD goes on to its end, for two
minutes at most, and DEL gets its result: a plugin that is killed between what it
allocates and what it records leaves that for good. Only the caller cuts an ADD, as
before, by going away. The pod's addresses are recorded while runc starts the
container, and are added to the record of the pause container behind it.

That is so for the shim for runc with runc. What another runtime does with the network
of a pod before its start is not known here: one with a virtual machine looks at the
interfaces. So the ADD comes first for these, and where the pod sets sysctls of the
network, which an ADD may rely on and which runc sets as it creates the container. Those
that containerd sets for each pod concern no interface. They are set again after the
ADD: what a plugin of the chain has made of them is not what the pod is to have, as it
was where the ADD came first. So it comes where containerd may not write to /proc/sys.

A shim and an init process for each pod that waits for its network would be a burden
where the network is slow or down. So the ADD comes first, too, while four others run
that do not, and after one that failed. How many is a setting, with which the ADD can come
first for all.

Only CRI comes here. Listeners of containerd's events see the container and
task of a pod before its ADD has ended, and their end where the ADD fails. A
plugin may find runc's init process in the namespace and in the cgroup. An
application starts sooner after its ADD. If containerd is killed before the
addresses are in the container's record, an unpatched one shows none.`,
	Rules:  []string{"L1", "L7", "L15"},
	Status: edit.Upstream,
	Until:  "CNI ADD runs while the pause container is created",
	Needs: []string{
		"containerd/start-under-lease", "containerd/await-plugins", "containerd/pod-spans",
		"containerd/network-detach",
	},
	Edits: []edit.Edit{
		containerd.CNIConfig.AddField(`
// NetworkAddsBesidePause is how many pods at most are attached to their network while their pause
// container is created. Each holds a shim and an init process for as long as its ADD takes. With 0
// the ADD comes first.
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
		containerd.ServiceType.AddField("\n// networkPace is how the last ADDs went.\nnetworkPace networkPace"),
		containerd.Run.Before(edit.Stmt(edit.If("!hostNetwork(config)")), "var network *attachment // nil if the pod is on the network of its host\n"),
		containerd.Run.Replace(edit.Stmt(edit.Mentions("c.setupPodNetwork(ctx, &sandbox)")), `network = c.beginAttachment(ctx, sandbox, sandboxInfo, besideNetwork(ociRuntime, runtimeOpts, config) && c.networkPace.enter(c.config.NetworkAddsBesidePause))
defer network.end(&sandbox)
if !network.beside {
	if sandboxInfo, err = network.finish(ctx, &sandbox, creation); err != nil {
		return nil, err
	}
}`),
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
