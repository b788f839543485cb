// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPhasesSurviveARestart(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "phases")
	p := NewPhases(dir)
	phases, unreadable := p.Load()
	require.Empty(t, phases)
	require.Empty(t, unreadable, "no phase was recorded yet")
	require.NoError(t, p.Enter("cut", PhaseCreating))
	require.NoError(t, p.Enter("stopped", PhaseCreating))
	require.NoError(t, p.Enter("stopped", PhaseStopped))
	require.NoError(t, p.Enter("ready", PhaseCreating))
	require.NoError(t, p.Leave("ready"))
	require.NoError(t, p.Leave("ready"), "it is forgotten already")

	phases, unreadable = NewPhases(dir).Load()
	require.Empty(t, unreadable)
	require.Equal(t, map[string]Phase{"cut": PhaseCreating, "stopped": PhaseStopped}, phases)
}

// A foreign file among the phases is named and not removed, and all other phases are read.
func TestUnreadablePhases(t *testing.T) {
	for name, put := range map[string]func(path string) error{
		"a folder":          func(path string) error { return os.MkdirAll(filepath.Join(path, "in it"), 0o700) },
		"an empty file":     func(path string) error { return os.WriteFile(path, nil, 0o600) },
		"an alien file":     func(path string) error { return os.WriteFile(path, []byte("notes\n"), 0o600) },
		"a large file":      func(path string) error { return errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, 1<<40)) },
		"a link to nowhere": func(path string) error { return os.Symlink("nowhere", path) },
		"a link to a phase": func(path string) error { return os.Symlink("cut", path) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			p := NewPhases(dir)
			require.NoError(t, p.Enter("cut", PhaseCreating))
			path := filepath.Join(dir, "alien")
			require.NoError(t, put(path))

			phases, unreadable := p.Load()
			require.Equal(t, map[string]Phase{"cut": PhaseCreating, "alien": PhaseUnreadable}, phases)
			require.Len(t, unreadable, 1)
			require.ErrorContains(t, unreadable[0], path)
			_, err := os.Lstat(path)
			require.NoError(t, err)
		})
	}
}

// An interrupted write leaves the earlier phase, and nothing that needs a clean-up.
func TestCutWriteOfAPhase(t *testing.T) {
	dir := t.TempDir()
	p := NewPhases(dir)
	require.NoError(t, p.Enter("pod", PhaseCreating))
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 1, "a complete write leaves no other file")
	cut := filepath.Join(dir, cutWrite+"pod123")
	require.NoError(t, os.WriteFile(cut, []byte("stop"), 0o600))

	phases, unreadable := p.Load()
	require.Empty(t, unreadable)
	require.Equal(t, map[string]Phase{"pod": PhaseCreating}, phases)
	require.NoFileExists(t, cut)
}

// A file in the place of the directory is renamed, not removed.
func TestNoDirectoryForPhases(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "phases")
	require.NoError(t, os.WriteFile(dir, []byte("notes"), 0o600))
	p := NewPhases(dir)

	phases, unreadable := p.Load()
	require.Empty(t, phases)
	require.Len(t, unreadable, 1)
	require.FileExists(t, dir+".aside")
	require.ErrorContains(t, unreadable[0], dir+".aside")

	require.NoError(t, p.Enter("pod", PhaseCreating))
	phases, unreadable = p.Load()
	require.Empty(t, unreadable)
	require.Equal(t, map[string]Phase{"pod": PhaseCreating}, phases)
}

// continuity's documentation does not promise these names of files.
func TestNameOfCutWrites(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "pod"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "pod", "x"), nil, 0o600))
	require.Error(t, NewPhases(dir).Enter("pod", PhaseCreating), "a folder is in the way of the rename")
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, entry := range left {
		if !entry.IsDir() {
			require.True(t, strings.HasPrefix(entry.Name(), cutWrite), entry.Name())
		}
	}
}

func TestNilPhasesKeepNothing(t *testing.T) {
	var p *Phases
	require.NoError(t, p.Enter("pod", PhaseCreating))
	phases, unreadable := p.Load()
	require.Empty(t, phases)
	require.Empty(t, unreadable)
	require.NoError(t, p.Leave("pod"))
}
