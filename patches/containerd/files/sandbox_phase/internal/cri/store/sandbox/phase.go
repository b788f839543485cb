// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// A Phase is what has to be known of a sandbox after a restart and cannot be
// told from its processes: that nobody has agreed to it yet, or that its stop
// was told.
type Phase string

const (
	// PhaseCreating sandboxes were never ready.
	PhaseCreating Phase = "creating"
	// PhaseStopping sandboxes take no containers any more.
	PhaseStopping Phase = "stopping"
	// PhaseStopped sandboxes have had their stop.
	PhaseStopped Phase = "stopped"
)

// Phases keeps the phase of each sandbox that is not simply ready: a file for
// each, with the phase as its text. It has to survive the end of containerd, not
// that of the machine: after that a sandbox has no process that could be
// taken for a ready one, and a stop may be told again.
type Phases struct {
	dir string
}

// NewPhases keeps phases in a directory, which it creates.
func NewPhases(dir string) (*Phases, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("create the directory for phases of sandboxes: %w", err)
	}
	return &Phases{dir: dir}, nil
}

// Enter keeps the phase of a sandbox.
func (p *Phases) Enter(id string, phase Phase) error {
	if p == nil {
		return nil
	}
	if err := os.WriteFile(filepath.Join(p.dir, id), []byte(phase), 0o600); err != nil {
		return fmt.Errorf("keep that sandbox %q is %s: %w", id, phase, err)
	}
	return nil
}

// Leave forgets the phase of a sandbox, which is ready then, or gone.
func (p *Phases) Leave(id string) error {
	if p == nil {
		return nil
	}
	if err := os.Remove(filepath.Join(p.dir, id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget the phase of sandbox %q: %w", id, err)
	}
	return nil
}

// Load reads the phases that were kept. One whose text was lost is that of a
// sandbox which nobody can vouch for.
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
