// SPDX-License-Identifier: Apache-2.0

package containerd

import "github.com/hookline-nri/hookline/internal/edit"

// ContainersStopFirst tells of the stop of each container before that of the pod.
var ContainersStopFirst = edit.Patch{
	Slug:    "containers-stop-first",
	Module:  "containerd",
	Subject: "cri,nri: tell of stopped containers before their pod",
	Body: `Plugins are told of a container's stop when its exit is noticed, which may be
after StopPodSandbox, or never: for one that was created and not started, and
for one whose shim is gone. The adaptation then tells those that lack it of a
container of which it knows the id alone, and the updates of other containers
that they ask for in return are lost.

Hand in the stop of each container after it was stopped and before the pod
is. Who had it already gets nothing.

A container may outlive its pod in the stores for a moment. The stand-in for
such a pod has no status, which the plugins' view of it reads; give it one.`,
	Refs:   []string{"containerd/nri#286", "containerd/containerd#8426"},
	Rules:  []string{"L1", "L3"},
	Status: edit.Upstream,
	Until:  "containerd tells plugins of every container's stop before it stops the pod",
	Edits: []edit.Edit{
		stop.After(
			edit.Stmt(edit.Call("c.stopContainerRetryOnConnectionClosed")), `if err := c.nri.StopContainer(ctx, &sandbox, &container); err != nil {
	log.G(ctx).WithError(err).Errorf("NRI stop notification of container %q failed", container.ID)
}`),
		edit.In(criNRI, edit.Method("API", "StopContainer")).Replace(edit.Stmt(edit.Assign("criPod")), `criPod = gonePod(ctr.GetPodSandboxID())`),
		edit.In(criNRI, edit.Method("API", "NotifyContainerExit")).Replace(edit.Stmt(edit.Assign("criPod")), `criPod = *gonePod(ctr.GetPodSandboxID())`),
	},
}
