// SPDX-License-Identifier: Apache-2.0

package containerd

import "github.com/hookline-nri/hookline/internal/edit"

// NetworkAttach is an ADD of which nothing goes on once it has failed.
var NetworkAttach = edit.Patch{
	Slug:    "network-attach",
	Module:  "containerd",
	Subject: "cri: end all that a CNI ADD started before the pod's DEL",
	Body: `When the caller of RunPodSandbox is gone, the plugin that is at its ADD is
killed, and it alone. The IPAM plugin that it had started goes on. On a busy node
that one allocates an address after the pod's DEL, and nobody frees it.

go-cni does not let its caller choose how plugins are run. So run ADD as DEL is
run: from the configuration that is loaded, with each plugin in a process
group of its own. When an ADD is cut, all of the group is killed, and the roll-back
begins when all of it has ended. A process that the kernel does not end is waited
for ten seconds, and named in the error. What a plugin leaves running when its ADD
succeeded is not touched. An ADD that hangs does not keep a reload of the
configuration waiting any more.`,
	Refs:   []string{"containerd/containerd#12130"},
	Rules:  []string{"L7", "N4"},
	Status: edit.Upstream,
	Until:  "go-cni ends the process group of an ADD whose context ended",
	Edits: []edit.Edit{
		edit.In(sandboxRun, edit.Method("criService", "setupPodNetwork")).
			Replace(edit.Stmt(edit.If("c.config.CniConfig.NetworkPluginSetupSerially")), "result, err = c.attachPod(ctx, netPlugin, sandbox, opts...)"),
	},
}
