// SPDX-License-Identifier: Apache-2.0

package creationslisted

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/containerd"
)

// CreationsListed lists pods that are being created to plugins that register.
var CreationsListed = edit.Patch{
	Slug:    "creations-listed",
	Module:  "containerd",
	Subject: "cri,nri: list pods being created in Synchronize",
	Body: `A plugin that registers while a pod is being created, for example during a slow
CNI ADD, does not find the pod in Synchronize: a pod is listed once it is in the
sandbox store, at the end of its creation. A plugin that cleans up the node then
takes the pod's resources for leftovers.

Keep pods that are being created in a list of their own, from before the network
is set up to the end of RunPodSandbox. The plugin receives RunPodSandbox in the
pod's hook. If the creation fails before that, and a plugin has received the pod
in Synchronize, plugins receive StopPodSandbox and RemovePodSandbox. The
roll-back does not wait for these events: they must wait for plugins that
register, and a registration may wait for a graceful stop.

Only NRI plugins see this list. They may now find a pod in Synchronize that has
no address and no process yet. It has no specification either, so its network
namespace comes from CRI's metadata.`,
	Refs:   []string{"containerd/containerd#13698", "containerd/nri#63", "containerd/nri#286"},
	Rules:  []string{"L2", "L3"},
	Status: edit.Upstream,
	Until:  "containerd lists pods being created in NRI's Synchronize",
	Needs:  []string{"containerd/undo-rejected-pod", "containerd/ends-after-restart"},
	Edits: []edit.Edit{
		containerd.ServiceType.AddField(`
// creating are the sandboxes that are being created, and in no store yet.
creating sandboxstore.Creating`),
		edit.In("internal/cri/nri/nri_api.go", edit.Type("CRIImplementation")).AddField(`CreatingSandboxes() []sstore.Sandbox`),
		listPods.Before(edit.Stmt(edit.Range("a.cri.SandboxStore().List()")), `// The list of creations is read first: a pod that moves to the store meanwhile is in
// both lists, not in neither.
creating := a.cri.CreatingSandboxes()`),
		listPods.Before(edit.Stmt(edit.Return("pods")), `for _, pod := range creating {
	if !slices.ContainsFunc(pods, func(listed nri.PodSandbox) bool { return listed.GetID() == pod.ID }) {
		pods = append(pods, a.nriPodSandbox(&pod))
	}
}`),
		containerd.Run.Before(edit.Stmt(edit.If("!hostNetwork(config)")), `// Plugins that register from here on know the sandbox.
c.creating.Put(sandbox)
defer func() {
	if retErr != nil {
		c.endCreating(sandbox)
	}
}()
`),
		containerd.Run.Before(edit.Stmt(edit.Call("c.setupPodNetwork")), `c.creating.Put(sandbox)`),
		containerd.Run.After(edit.Stmt(edit.Call("c.setupPodNetwork")), `c.creating.Put(sandbox)`),
		containerd.Run.After(edit.Stmt(edit.All(edit.Call("c.sandboxStore.Add"), edit.Has(edit.Call("fmt.Errorf")))), `c.creating.Delete(id)`),

		edit.In(containerd.CRINRI, edit.Method("API", "nriPodSandbox")).Replace(edit.Expr("sandboxInfo.Spec != nil"), `sandboxInfo.Spec != nil && sandboxInfo.Spec.GetTypeUrl() != ""`),
		podNamespaces.Before(edit.Stmt(edit.Call("slices.DeleteFunc")), `if p.spec.Linux == nil && p.NetNSPath != "" { // the sandbox is not started
	namespaces = append(namespaces, &api.LinuxNamespace{Type: string(runtimespec.NetworkNamespace), Path: p.NetNSPath})
}
`),
	},
}

// listPods lists pods for NRI.
var listPods = edit.In(containerd.CRINRI, edit.Method("API", "ListPodSandboxes"))

// podNamespaces are the namespaces of a pod for NRI.
var podNamespaces = edit.In(containerd.CRINRI, edit.Method("criPodSandbox", "GetLinuxNamespaces"))
