// SPDX-License-Identifier: Apache-2.0

package stoppedtask

import "github.com/hookline-nri/hookline/internal/edit"

// StoppedTask does not start a process to kill a task that has exited.
var StoppedTask = edit.Patch{
	Slug:    "stopped-task",
	Module:  "containerd",
	Subject: "cri: do not kill a task that has exited",
	Body: `When a container or the pause container of a pod has exited, its task is killed once
more before it is deleted. The shim for runc starts runc for that, about 10 ms for a
process that is not there.

That shim ends what else is in the container by itself when the first process exits,
and before it tells of the exit. So do not kill a stopped task of that shim and runc.
Others are killed as before, programs in the place of runc included (BinaryName): what
they do at an exit is not known here.

Only CRI comes here; ctr, moby and nerdctl decide for themselves what to kill. A
container without a pid namespace of its own may leave processes behind. The
shim kills them before it tells of the exit, and runc delete kills what is
left. That the shim failed to kill is in its log alone: the second kill does not
mend it now.`,
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
