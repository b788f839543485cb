// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/containerd/continuity"
)

// A Phase has facts about a sandbox that must be known after a restart and that its processes
// do not show: plugins have not approved it yet, or have received its stop.
type Phase string

const (
	// PhaseCreating sandboxes were never ready.
	PhaseCreating Phase = "creating"
	// PhaseStopping sandboxes take no new containers.
	PhaseStopping Phase = "stopping"
	// PhaseStopped sandboxes were stopped, and plugins have received StopPodSandbox.
	PhaseStopped Phase = "stopped"
	// PhaseUnreadable stands for a file that cannot be read. It is no phase of a sandbox.
	PhaseUnreadable Phase = "unreadable"
)

// cutWrite is the prefix of files that continuity writes before it renames them.
const cutWrite = ".tmp-"

// Phases keeps the phase of each sandbox that is being created or was stopped, in a file with
// the phase as its text. The files must survive a restart of containerd, but not a reboot:
// after a reboot no sandbox has a process that would make it ready, and a stop may be sent
// again.
type Phases struct {
	dir string
}

// NewPhases keeps phases in a directory, which need not exist.
func NewPhases(dir string) *Phases { return &Phases{dir: dir} }

// Enter records that a sandbox is in a phase.
func (p *Phases) Enter(id string, phase Phase) error {
	if p == nil {
		return nil
	}
	err := os.MkdirAll(p.dir, 0o700)
	if err == nil {
		err = continuity.AtomicWriteFile(filepath.Join(p.dir, id), []byte(phase), 0o600)
	}
	if err != nil {
		return fmt.Errorf("record that sandbox %q is %s: %w", id, phase, err)
	}
	return nil
}

// Leave forgets the phase of a sandbox that is ready or removed.
func (p *Phases) Leave(id string) error {
	if p == nil {
		return nil
	}
	if err := os.Remove(filepath.Join(p.dir, id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget the phase of sandbox %q: %w", id, err)
	}
	return nil
}

// Load reads the recorded phases. A file without a phase is PhaseUnreadable, is not removed,
// and has an error of its own. Anything in the place of the directory is put aside.
func (p *Phases) Load() (map[string]Phase, []error) {
	if p == nil {
		return nil, nil
	}
	if err := p.putAside(); err != nil {
		return nil, []error{err}
	}
	entries, err := os.ReadDir(p.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, []error{fmt.Errorf("list phases of sandboxes: %w", err)}
	}
	phases := make(map[string]Phase, len(entries))
	var unreadable []error
	for _, entry := range entries {
		path := filepath.Join(p.dir, entry.Name())
		if strings.HasPrefix(entry.Name(), cutWrite) {
			_ = os.Remove(path) // if that fails, the next start tries again
			continue
		}
		phase, err := read(path, entry)
		if err != nil {
			unreadable = append(unreadable, fmt.Errorf("read the phase of a sandbox in %s: %w", path, err))
		}
		phases[entry.Name()] = phase
	}
	return phases, unreadable
}

// putAside renames a file that is in the place of the directory, and returns an error that
// names it.
func (p *Phases) putAside() error {
	info, err := os.Stat(p.dir)
	if err != nil || info.IsDir() {
		return nil // if it cannot be read, Load returns the error
	}
	aside := p.dir + ".aside"
	if err := os.Rename(p.dir, aside); err != nil {
		return fmt.Errorf("put aside the file in the place of the directory for phases of sandboxes: %w", err)
	}
	return fmt.Errorf("%s was no directory for phases of sandboxes, and was renamed to %s", p.dir, aside)
}

// read returns the phase in a file. It opens only regular files, because opening a pipe would
// wait for a writer.
func read(path string, entry fs.DirEntry) (Phase, error) {
	if !entry.Type().IsRegular() {
		return PhaseUnreadable, fmt.Errorf("it is not a regular file, but %s", entry.Type())
	}
	info, err := entry.Info()
	if err != nil {
		return PhaseUnreadable, err
	}
	if info.Size() > int64(len(PhaseUnreadable)) {
		return PhaseUnreadable, fmt.Errorf("%d bytes are no phase", info.Size())
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return PhaseUnreadable, err
	}
	switch phase := Phase(text); phase {
	case PhaseCreating, PhaseStopped:
		return phase, nil
	}
	return PhaseUnreadable, fmt.Errorf("%q is no phase", text)
}
