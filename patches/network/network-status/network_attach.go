// SPDX-License-Identifier: Apache-2.0

package networkstatus

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/containerd"
)

// NetworkAttach ends all processes that a canceled ADD has started.
var NetworkAttach = edit.Patch{
	Slug:    "network-attach",
	Module:  "containerd",
	Subject: "cri: end all processes of a canceled CNI ADD before the pod's DEL",
	Body: `When the caller of RunPodSandbox cancels during a CNI ADD, only the
plugin's own process is killed. An IPAM plugin that it started goes on.
On a busy node that IPAM plugin may allocate an address after the pod's
DEL, and the address leaks.

go-cni does not let its caller choose how plugins are run. So run ADD
like DEL: with the loaded configuration, and each plugin in a process
group of its own. When an ADD is canceled, its group is killed as a
whole, and the roll-back begins when all its processes have ended. If
the kernel does not end a process, the wait takes ten seconds, and the
error names the process. Processes that a plugin leaves after a
successful ADD are not killed. A reload of the configuration no longer
waits for an ADD that hangs.

A plugin whose ADD is not canceled has the same arguments and
environment, but leads a process group of its own. IPAM plugins, and
delegates of Multus, could finish after a cancellation. They are killed
now. On Windows only the plugin itself is killed, as before. ctr and
nerdctl run plugins by themselves, and are not affected.`,
	Refs:   []string{"containerd/containerd#12130"},
	Rules:  []string{"L7", "N4"},
	Status: edit.Upstream,
	Until:  "go-cni ends the process group of an ADD whose context ended",
	Needs:  []string{"containerd/network-status"},
	Edits: []edit.Edit{
		edit.In(containerd.SandboxRun, edit.Method("criService", "setupPodNetwork")).
			Replace(edit.Stmt(edit.If("c.config.CniConfig.NetworkPluginSetupSerially")), "result, err = c.attachPod(ctx, netPlugin, sandbox, opts...)"),
	},
}
