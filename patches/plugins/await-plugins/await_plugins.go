// SPDX-License-Identifier: Apache-2.0

package awaitplugins

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/containerd"
)

// AwaitPlugins has pods wait for required plugins before they hold any resources.
var AwaitPlugins = edit.Patch{
	Slug:    "await-plugins",
	Module:  "containerd",
	Subject: "cri,nri: wait for required plugins before anything is made",
	Body: `A pod that waits for a disconnected NRI plugin that it requires holds
its addresses, a network namespace and a sandbox, because it waits in
the hook of RunPodSandbox, which is the last step. If the plugin does
not connect, all of that is rolled back, and made again when the kubelet
tries again. A network with few addresses loses them to pods that cannot
start.

Wait before anything of the pod is created. The hook waits again, for
the rest of the time, if the plugin disconnects in between. Pods on the
host's network wait in the hook alone: whether they require the plugin
depends on their namespaces, and they hold no addresses.

A pod without a required plugin does not wait. The name of a waiting pod
is reserved, so a second request for the same attempt is rejected. The
pod is in no list, and has no record, lease or namespace. If the kubelet
cancels its request, the wait ends. ctr, moby and nerdctl are not
affected.`,
	Refs:   []string{"containerd/nri#142", "containerd/nri#287"},
	Rules:  []string{"L20"},
	Status: edit.Upstream,
	Until:  "RunPodSandbox waits for required NRI plugins before it creates a network",
	Needs:  []string{"containerd/creation-metrics", "containerd/nri-failures", "containerd/nri-plugin-settings"},
	Edits: []edit.Edit{
		edit.In(containerd.LocalNRI, edit.Type("API")).AddField(`
// AwaitPlugins waits for the disconnected plugins that a pod requires, before anything of
// the pod is created. The caller must pass the returned context to RunPodSandbox.
AwaitPlugins(context.Context, PodSandbox) (context.Context, error)`),
		containerd.Run.Before(edit.Stmt(edit.Define("ociRuntime", "err")), `if ctx, err = c.awaitPlugins(ctx, &sandbox); err != nil {
	return nil, fmt.Errorf("NRI RunPodSandbox failed: %w", err)
}
`),
	},
}
