// SPDX-License-Identifier: Apache-2.0

package awaitplugins

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/containerd"
)

// AwaitPlugins has pods wait for required plugins with nothing in their hands.
var AwaitPlugins = edit.Patch{
	Slug:    "await-plugins",
	Module:  "containerd",
	Subject: "cri,nri: wait for required plugins before anything is made",
	Body: `A pod that requires an NRI plugin waits in RunPodSandbox's hook, which is the
last step, while the plugin is disconnected. It holds its addresses, a network namespace
and a sandbox meanwhile. If the plugin does not come, all of it is undone, and
made once more when the kubelet tries again: a network that has few addresses
runs out of them for pods that cannot start.

Wait before anything of the pod is made. The hook waits again for a plugin that
went in between, for what is left of the time. Pods on the host's network wait in
the hook alone: whether they require the plugin depends on their namespaces, and
they hold no addresses.

A pod without a required plugin does not wait. One that waits has its name
reserved, so a second request for the same attempt is rejected meanwhile; it is in
no list, and has no record, lease or namespace. If the kubelet gives up, the wait
ends with its request. ctr, moby and nerdctl do not come here.`,
	Refs:   []string{"containerd/nri#142", "containerd/nri#287"},
	Rules:  []string{"L20"},
	Status: edit.Upstream,
	Until:  "RunPodSandbox waits for required NRI plugins before it makes a network",
	Needs:  []string{"containerd/creation-metrics", "containerd/nri-failures", "containerd/nri-plugin-settings"},
	Edits: []edit.Edit{
		edit.In(containerd.LocalNRI, edit.Type("API")).AddField(`
// AwaitPlugins waits for the plugins that a pod requires and that are disconnected, before
// anything of it is made. RunPodSandbox is to be given the context that it returns.
AwaitPlugins(context.Context, PodSandbox) (context.Context, error)`),
		containerd.Run.Before(edit.Stmt(edit.Define("ociRuntime", "err")), `if ctx, err = c.awaitPlugins(ctx, &sandbox); err != nil {
	return nil, fmt.Errorf("NRI RunPodSandbox failed: %w", err)
}
`),
	},
}
