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

// phasesDir is where phases are kept, under the root directory.
const phasesDir = "sandbox-phases"

// openPhases opens what is known of sandboxes from before.
func (c *criService) openPhases() (err error) {
	c.phases, err = sandboxstore.NewPhases(filepath.Join(c.config.RootDir, phasesDir))
	return err
}

// startPhase enters a sandbox of which nothing is there yet, with the place of
// its network namespace, which is in its first record already: whatever cuts
// its creation, what it has can be found from its record.
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

// refuseStopped refuses what needs a sandbox that is there to stay.
func refuseStopped(sb *sandboxstore.Sandbox) error {
	switch phase := sb.Status.Get().Phase; phase {
	case sandboxstore.PhaseStopping, sandboxstore.PhaseStopped:
		return fmt.Errorf("sandbox %q is %s: %w", sb.ID, phase, errdefs.ErrFailedPrecondition)
	}
	return nil
}

// beginStop keeps new containers out of a sandbox. It need not be kept over a
// restart: until the stop was told, all of it is to be done again.
func beginStop(sb *sandboxstore.Sandbox) {
	if sb.Status.Get().Phase == "" {
		setPhase(sb, sandboxstore.PhaseStopping)
	}
}

// stopPhase keeps that the stop of a sandbox was told. If it cannot be kept,
// it is told again to those that join after a restart.
func (c *criService) stopPhase(ctx context.Context, sb *sandboxstore.Sandbox) {
	if sb.Status.Get().Phase == sandboxstore.PhaseStopped {
		return
	}
	setPhase(sb, sandboxstore.PhaseStopped)
	if err := c.phases.Enter(sb.ID, sandboxstore.PhaseStopped); err != nil {
		log.G(ctx).WithError(err).Warnf("failed to keep that sandbox %q is stopped", sb.ID)
	}
}

// endPhase forgets the phase of a sandbox that is ready, or gone. If it cannot,
// a ready one is taken for one that was never ready after a restart.
func (c *criService) endPhase(ctx context.Context, sb *sandboxstore.Sandbox) {
	setPhase(sb, "")
	if err := c.phases.Leave(sb.ID); err != nil {
		log.G(ctx).WithError(err).Errorf("failed to forget the phase of sandbox %q", sb.ID)
	}
}

// recoverPhase gives a sandbox from before a restart the phase that it had. One
// whose creation was cut is not ready, and one whose stop was told is no more,
// even if its process runs.
func recoverPhase(sb *sandboxstore.Sandbox, phases map[string]sandboxstore.Phase) {
	phase := phases[sb.ID]
	_ = sb.Status.Update(func(status sandboxstore.Status) (sandboxstore.Status, error) {
		status.Phase = phase
		if phase == sandboxstore.PhaseCreating || phase != "" && status.State == sandboxstore.StateReady {
			status.State = sandboxstore.StateUnknown
		}
		return status, nil
	})
}

// forgetPhases drops the phases of sandboxes of which there is no record.
func (c *criService) forgetPhases(ctx context.Context, phases map[string]sandboxstore.Phase) {
	for id := range phases {
		if _, err := c.sandboxStore.Get(id); err == nil {
			continue
		}
		if err := c.phases.Leave(id); err != nil {
			log.G(ctx).WithError(err).Warnf("failed to forget sandbox %q", id)
		}
	}
}

func setPhase(sb *sandboxstore.Sandbox, phase sandboxstore.Phase) {
	_ = sb.Status.Update(func(status sandboxstore.Status) (sandboxstore.Status, error) {
		status.Phase = phase
		return status, nil
	})
}

// netnsDir is where network namespaces are mounted.
func (c *criService) netnsDir() string {
	if c.config.NetNSMountsUnderStateDir {
		return filepath.Join(c.config.StateDir, "netns")
	}
	return "/var/run/netns"
}

// recordNetNS saves where the network namespace of a sandbox is, on platforms
// where its first record could not tell.
func (c *criService) recordNetNS(ctx context.Context, record sandbox.Sandbox, sb *sandboxstore.Sandbox) (sandbox.Sandbox, error) {
	path := sb.NetNS.GetPath()
	if path == sb.NetNSPath {
		return record, nil
	}
	sb.NetNSPath = path
	return c.recordSandbox(ctx, record, sb)
}

// recordSandbox saves what is known of a sandbox by now.
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
