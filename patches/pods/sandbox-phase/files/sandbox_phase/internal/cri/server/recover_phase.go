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

// recoverPhases restores the phases of sandboxes after a restart, when their containers are
// known. It forgets phases of sandboxes that do not exist any more, and phases that are
// outdated because another containerd has run since.
func (c *criService) recoverPhases(ctx context.Context) {
	phases, unreadable := c.phases.Load()
	for _, err := range unreadable {
		recovery.Skip(ctx, recovery.SandboxPhase, phasesDir, err)
	}
	for id, phase := range phases {
		sb, err := c.sandboxStore.Get(id)
		known := err == nil && sb.ID == id // the store accepts the prefix of an id as well
		switch {
		case known && ranPast(phase, c.containersOf(id)):
			log.G(ctx).Warnf("sandbox %q was in phase %q and has new containers since: the state of its process counts", id, phase)
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

// ranPast reports whether the phase of a sandbox is outdated: since it was recorded, a
// containerd that reads no phases has run and took the sandbox for ready (L23).
//
// Only the sandbox's containers prove that. A containerd that keeps phases accepts no
// container in a sandbox while it is being created, after a restart that interrupted its
// creation, or from its first stop on. It records a sandbox as stopped only when none of its
// containers runs. So any container in a sandbox in phase creating, and a running one in a
// sandbox in phase stopped, was created by another containerd, and the kubelet relies on it.
// The sandbox's process and record are the same in both cases, and prove nothing. A sandbox
// without containers has nothing to lose: it stays not ready, because plugins have not
// approved it.
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

// recoverPhase restores the phase of a sandbox. A sandbox whose creation was interrupted, or
// that was stopped, is not ready, even if its process runs. An unreadable phase was one of
// these two.
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
