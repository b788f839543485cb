// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/containerd/errdefs"
	"github.com/containerd/log"

	"github.com/containerd/containerd/v2/core/sandbox"
	"github.com/containerd/containerd/v2/internal/cri/server/podsandbox"
	sandboxstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
	"github.com/containerd/containerd/v2/pkg/netns"
)

// phasesDir is the folder of phases, below the state directory.
const phasesDir = "sandbox-phases"

// openPhases returns the phases that were recorded before a restart. They are in containerd's
// state directory, which a reboot empties.
func (c *criService) openPhases() *sandboxstore.Phases {
	return sandboxstore.NewPhases(filepath.Join(c.config.StateDir, phasesDir))
}

// startPhase records a sandbox before any of its resources exist. The path of its network
// namespace is in its first record already, so that the resources can be found from the
// record after any interruption.
func (c *criService) startPhase(sb *sandboxstore.Sandbox) error {
	if !hostNetwork(sb.Config) {
		path, err := netns.NewPath(c.netnsDir())
		if err != nil {
			return fmt.Errorf("failed to name network namespace for sandbox %q: %w", sb.ID, err)
		}
		sb.NetNSPath = path
	}
	setPhase(sb, sandboxstore.PhaseCreating)
	return c.phases.Enter(sb.ID, sandboxstore.PhaseCreating)
}

// rejectStopped returns an error if the sandbox is stopped or being stopped.
func rejectStopped(sb *sandboxstore.Sandbox) error {
	switch phase := sb.Status.Get().Phase; phase {
	case sandboxstore.PhaseStopping, sandboxstore.PhaseStopped:
		return fmt.Errorf("sandbox %q is %s: %w", sb.ID, phase, errdefs.ErrFailedPrecondition)
	}
	return nil
}

// notReady reports whether a sandbox is not ready whatever its controller reports. It is false
// for a sandbox whose controller only did not answer at start: that one has to be asked.
func notReady(status sandboxstore.Status) bool {
	unknown := status.State == sandboxstore.StateUnknown
	return status.StopFailed || unknown && (status.Phase != "" || status.Unreadable != "")
}

// beginStop keeps new containers out of a sandbox. The phase need not survive a restart,
// because the stop is repeated until plugins have received it.
func beginStop(sb *sandboxstore.Sandbox) {
	if sb.Status.Get().Phase == "" {
		setPhase(sb, sandboxstore.PhaseStopping)
	}
}

// leaveStop ends a stop. A sandbox whose stop failed is shown as not ready. If not, a kubelet
// would try forever to start containers in it, which it rejects, and would not replace it.
func leaveStop(sb *sandboxstore.Sandbox, failed error) {
	if failed == nil {
		return
	}
	_ = sb.Status.Update(func(status sandboxstore.Status) (sandboxstore.Status, error) {
		status.StopFailed = true
		return status, nil
	})
}

// stopPhase records that plugins have received the stop of a sandbox. If that fails, plugins
// that register after a restart receive it again.
func (c *criService) stopPhase(ctx context.Context, sb *sandboxstore.Sandbox) {
	if sb.Status.Get().Phase == sandboxstore.PhaseStopped {
		return
	}
	setPhase(sb, sandboxstore.PhaseStopped)
	if err := c.phases.Enter(sb.ID, sandboxstore.PhaseStopped); err != nil {
		log.G(ctx).WithError(err).Warnf("failed to record that sandbox %q is stopped", sb.ID)
	}
}

// endPhase forgets the phase of a sandbox that is ready or removed. If that fails, a ready
// sandbox without containers is not ready after a restart.
func (c *criService) endPhase(ctx context.Context, sb *sandboxstore.Sandbox) {
	setPhase(sb, "")
	if err := c.phases.Leave(sb.ID); err != nil {
		log.G(ctx).WithError(err).Errorf("failed to forget the phase of sandbox %q", sb.ID)
	}
}

func setPhase(sb *sandboxstore.Sandbox, phase sandboxstore.Phase) {
	_ = sb.Status.Update(func(status sandboxstore.Status) (sandboxstore.Status, error) {
		status.Phase = phase
		return status, nil
	})
}

// netnsDir is the folder in which network namespaces are mounted.
func (c *criService) netnsDir() string {
	if c.config.NetNSMountsUnderStateDir {
		return filepath.Join(c.config.StateDir, "netns")
	}
	return "/var/run/netns"
}

// recordNetNS saves the path of a sandbox's network namespace, on platforms where it was not
// known when the first record was written.
func (c *criService) recordNetNS(ctx context.Context, record sandbox.Sandbox, sb *sandboxstore.Sandbox) (sandbox.Sandbox, error) {
	path := sb.NetNS.GetPath()
	if path == sb.NetNSPath {
		return record, nil
	}
	sb.NetNSPath = path
	return c.recordSandbox(ctx, record, sb)
}

// recordSandbox saves the current metadata of a sandbox.
func (c *criService) recordSandbox(ctx context.Context, record sandbox.Sandbox, sb *sandboxstore.Sandbox) (sandbox.Sandbox, error) {
	if err := record.AddExtension(podsandbox.MetadataKey, &sb.Metadata); err != nil {
		return record, fmt.Errorf("unable to update extensions for sandbox %q: %w", sb.ID, err)
	}
	record, err := c.client.SandboxStore().Update(ctx, record, "extensions")
	if err != nil {
		return record, fmt.Errorf("unable to save sandbox %q to sandbox store: %w", sb.ID, err)
	}
	return record, nil
}
