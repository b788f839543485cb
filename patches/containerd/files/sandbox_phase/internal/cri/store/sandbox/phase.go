// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// A Phase is what has to be known of a sandbox after a restart and cannot be told
// from its processes: that plugins have not agreed to it yet, or have had its stop.
type Phase string

const (
	// PhaseCreating sandboxes were never ready.
	PhaseCreating Phase = "creating"
	// PhaseStopping sandboxes take no new containers.
	PhaseStopping Phase = "stopping"
	// PhaseStopped sandboxes were stopped, and plugins have had StopPodSandbox.
	PhaseStopped Phase = "stopped"
)

// Phases keeps the phase of each sandbox that is being created or was stopped, in a
// file with the phase as its text. It has to survive a restart of containerd, not a
// reboot: after that no sandbox has a process that could be taken for a ready one,
// and a stop may be sent again.
type Phases struct {
	dir string
}

// NewPhases keeps phases in a directory, and creates it.
func NewPhases(dir string) (*Phases, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("create the directory for phases of sandboxes: %w", err)
	}
	return &Phases{dir: dir}, nil
}

// Enter records the phase of a sandbox.
func (p *Phases) Enter(id string, phase Phase) error {
	if p == nil {
		return nil
	}
	if err := os.WriteFile(filepath.Join(p.dir, id), []byte(phase), 0o600); err != nil {
		return fmt.Errorf("record that sandbox %q is %s: %w", id, phase, err)
	}
	return nil
}

// Leave forgets the phase of a sandbox that is ready, or removed.
func (p *Phases) Leave(id string) error {
	if p == nil {
		return nil
	}
	if err := os.Remove(filepath.Join(p.dir, id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget the phase of sandbox %q: %w", id, err)
	}
	return nil
}

// Load reads the recorded phases. One without a known text counts as
// PhaseCreating, as the sandbox may not be ready.
func (p *Phases) Load() (map[string]Phase, error) {
	if p == nil {
		return nil, nil
	}
	entries, err := os.ReadDir(p.dir)
	if err != nil {
		return nil, fmt.Errorf("list phases of sandboxes: %w", err)
	}
	phases := make(map[string]Phase, len(entries))
	for _, entry := range entries {
		text, err := os.ReadFile(filepath.Join(p.dir, entry.Name()))
		if err != nil {
			return nil, fmt.Errorf("read the phase of sandbox %q: %w", entry.Name(), err)
		}
		phases[entry.Name()] = PhaseCreating
		if Phase(text) == PhaseStopped {
			phases[entry.Name()] = PhaseStopped
		}
	}
	return phases, nil
}
