// SPDX-License-Identifier: Apache-2.0

package containersstopfirst

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/containerd"
)

// ContainersStopFirst sends plugins the stop of each container before that of the pod.
var ContainersStopFirst = edit.Patch{
	Slug:    "containers-stop-first",
	Module:  "containerd",
	Subject: "cri,nri: send StopContainer before StopPodSandbox",
	Body: `Plugins may receive StopContainer after StopPodSandbox, or never. It is
sent when containerd notices the exit of the container, which never
happens for a container that was not started or whose shim is gone. The
adaptation then sends the missing StopContainer with only the
container's id, and the updates of other containers that plugins request
in return are lost.

Send StopContainer once the container has stopped, before the pod is
stopped. A plugin that has received it does not receive it again.

A container may stay in its store for a moment after its pod has left
the store of pods. NRI reads the status of such a pod, and its
placeholder has none; give it one.

The kubelet stops containers one by one before their pod, so for it only
the stop of containers that never ran is new. crictl and other clients
that stop a pod with running containers wait for plugins once for each
container. A plugin that hangs and stays connected costs them one
request timeout each time.`,
	Refs:   []string{"containerd/nri#286", "containerd/containerd#8426"},
	Rules:  []string{"L1", "L3"},
	Status: edit.Upstream,
	Until:  "containerd sends plugins StopContainer for every container before it stops the pod",
	Needs:  []string{"containerd/undo-rejected-pod"},
	Edits: []edit.Edit{
		containerd.Stop.After(
			edit.Stmt(edit.Call("c.stopContainerRetryOnConnectionClosed")), `if err := c.nri.StopContainer(ctx, &sandbox, &container); err != nil {
	log.G(ctx).WithError(err).Errorf("NRI stop notification of container %q failed", container.ID)
}`),
		edit.In(containerd.CRINRI, edit.Method("API", "StopContainer")).Replace(edit.Stmt(edit.Assign("criPod")), `criPod = gonePod(ctr.GetPodSandboxID())`),
		edit.In(containerd.CRINRI, edit.Method("API", "NotifyContainerExit")).Replace(edit.Stmt(edit.Assign("criPod")), `criPod = *gonePod(ctr.GetPodSandboxID())`),
	},
}
