// SPDX-License-Identifier: Apache-2.0

package stoppedtask

import "github.com/hookline-nri/hookline/internal/edit"

// StoppedTask does not start a process to kill a task that has exited.
var StoppedTask = edit.Patch{
	Slug:    "stopped-task",
	Module:  "containerd",
	Subject: "cri: do not kill a task that has exited",
	Body: `When a container or the pause container of a pod has exited, its task is
killed once more before it is deleted. The shim for runc starts runc for
that, which takes about 10 ms for a process that does not exist any
more.

When the first process of a container exits, that shim ends all other
processes in the container before it reports the exit. So do not kill a
stopped task of that shim and runc. Other tasks are killed as before,
including those of programs in the place of runc (BinaryName), whose
behaviour at an exit is not known.

Only CRI uses this; ctr, moby and nerdctl decide for themselves which
tasks to kill. A container without a pid namespace of its own may leave
processes behind. The shim kills them before it reports the exit, and
runc delete kills the rest. If the shim fails to kill them, only its log
says so; the second kill no longer makes up for it.`,
	Rules:  []string{"L15"},
	Status: edit.Upstream,
	Until:  "a stopped task of the shim for runc is deleted without being killed",
	Edits: []edit.Edit{
		edit.In("internal/cri/server/events.go", edit.Method("criService", "handleContainerExit")).
			Replace(edit.Expr("containerd.WithProcessKill"), "ctrdutil.WithKillUnlessStopped(cntr.Container)"),
		edit.In("internal/cri/server/podsandbox/controller.go", edit.Func("handleSandboxTaskExit")).
			Replace(edit.Expr("containerd.WithProcessKill"), "ctrdutil.WithKillUnlessStopped(sb.Container)"),
	},
}
