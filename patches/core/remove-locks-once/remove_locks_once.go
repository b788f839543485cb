// SPDX-License-Identifier: Apache-2.0

package removelocksonce

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/containerd"
)

// RemoveLocksOnce makes RemovePodSandbox block plugin registration once, for the
// pod and all its containers.
var RemoveLocksOnce = edit.Patch{
	Slug:    "remove-locks-once",
	Module:  "containerd",
	Subject: "cri,nri: block plugin sync once in RemovePodSandbox",
	Body: `The removal of a pod with containers deadlocks the node when an NRI plugin
registers in the middle of it. RemovePodSandbox blocks the synchronization of
plugins and calls RemoveContainer for each remaining container, which blocks it
again. The block is a read lock, and a plugin that registers takes the write
lock. If a plugin registers between the two, the second read lock waits for the
writer, and the writer waits for the first read lock: the removal never returns,
no plugin can register, and every later pod operation waits behind them.

Split RemoveContainer into two functions: one for the request, which takes the
block, and one for the removal, which RemovePodSandbox calls under its own block.

Only CRI and NRI have this lock.`,
	Refs:   []string{"containerd/containerd#14083"},
	Rules:  []string{"L8", "L13"},
	Status: edit.Upstream,
	Until:  "RemovePodSandbox no longer takes the plugin sync lock twice, or the lock is gone",
	Edits: []edit.Edit{
		edit.In(containerd.ContainerRemove, edit.Method("criService", "RemoveContainer")).
			Delete(edit.Stmt(edit.All(edit.Defer(), edit.Call("c.nri.BlockPluginSync")))),
		edit.In(containerd.ContainerRemove, edit.Method("criService", "RemoveContainer")).Rename("removeContainer"),
		edit.In(containerd.ContainerRemove, edit.Method("criService", "removeContainer")).InsertBefore(
			`// RemoveContainer removes the container within a block of its own of plugin synchronization.
func (c *criService) RemoveContainer(ctx context.Context, r *runtime.RemoveContainerRequest) (*runtime.RemoveContainerResponse, error) {
	if _, err := c.containerStore.Get(r.GetContainerId()); err == nil {
		defer c.nri.BlockPluginSync().Unblock()
	}

	return c.removeContainer(ctx, r)
}`),
		containerd.Remove.
			Replace(edit.Expr("c.RemoveContainer"), `c.removeContainer`),
	},
}
