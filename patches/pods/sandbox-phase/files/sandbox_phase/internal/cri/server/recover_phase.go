// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"

	"github.com/containerd/log"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/containerd/containerd/v2/internal/cri/recovery"
	containerstore "github.com/containerd/containerd/v2/internal/cri/store/container"
	sandboxstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
)

// recoverPhases restores the phases of sandboxes after a restart, when their
// containers are known. It forgets those of sandboxes that are gone, and those that
// another containerd ran past.
func (c *criService) recoverPhases(ctx context.Context) {
	phases, unreadable := c.phases.Load()
	for _, err := range unreadable {
		recovery.PassOver(ctx, recovery.SandboxPhase, phasesDir, err)
	}
	for id, phase := range phases {
		sb, err := c.sandboxStore.Get(id)
		known := err == nil && sb.ID == id // the store takes the beginning of an id as well
		switch {
		case known && ranPast(phase, c.containersOf(id)):
			log.G(ctx).Warnf("sandbox %q was left as %q and has got containers since: it is taken for what its process is", id, phase)
			c.endPhase(ctx, &sb)
		case known:
			recoverPhase(&sb, phase)
		case phase != sandboxstore.PhaseUnreadable:
			if err := c.phases.Leave(id); err != nil {
				log.G(ctx).WithError(err).Warnf("failed to forget the phase of sandbox %q", id)
			}
		}
	}
}

// ranPast tells from a sandbox's containers that it was left in a phase, and that a
// containerd which reads no phases has had it since and took it for ready (L23).
//
// Nothing else is proof. A containerd that keeps phases lets no container into a
// sandbox while it is being created, nor after a restart that cut its creation, nor
// from its first stop on; and it enters a sandbox as stopped only when none of its
// containers runs. So any container of the first kind, and one that runs of the
// second, came by another containerd, and the kubelet counts on them. Neither the
// sandbox's process nor its record tells: both are the same whether or not another
// containerd was there. A sandbox that it took for ready and gave no container has
// nothing to lose: it stays not ready, since no plugin has agreed to it.
func ranPast(phase sandboxstore.Phase, containers []containerstore.Container) bool {
	if phase != sandboxstore.PhaseStopped {
		return len(containers) > 0
	}
	for _, container := range containers {
		if container.Status.Get().State() == runtime.ContainerState_CONTAINER_RUNNING {
			return true
		}
	}
	return false
}

// containersOf returns the containers of a sandbox.
func (c *criService) containersOf(id string) (of []containerstore.Container) {
	for _, container := range c.containerStore.List() {
		if container.SandboxID == id {
			of = append(of, container)
		}
	}
	return of
}

// recoverPhase restores the phase of a sandbox. One whose creation was interrupted is
// not ready, nor is one that was stopped, even if its process runs. Where the phase
// cannot be read it was one of the two.
func recoverPhase(sb *sandboxstore.Sandbox, phase sandboxstore.Phase) {
	if phase == sandboxstore.PhaseUnreadable {
		phase = sandboxstore.PhaseCreating
	}
	_ = sb.Status.Update(func(status sandboxstore.Status) (sandboxstore.Status, error) {
		status.Phase = phase
		if phase == sandboxstore.PhaseCreating || status.State == sandboxstore.StateReady {
			status.State = sandboxstore.StateUnknown
		}
		return status, nil
	}) // it only returns the function's error
}
