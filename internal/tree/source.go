// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/sumdb/dirhash"

	"github.com/hookline-nri/hookline/internal/edit"
)

// Source is a version of an upstream module in the module cache.
type Source struct {
	edit.Module
	Version string
	Sum     string // as in go.sum, of the content in Dir
	Dir     string // read-only
}

// sources finds the modules of the series at the pinned versions, and checks their content in the
// module cache against go.sum.
func (w *Workspace) sources(ctx context.Context) ([]Source, error) {
	pins, err := w.pins()
	if err != nil {
		return nil, err
	}
	sums, err := w.sums()
	if err != nil {
		return nil, err
	}
	sources := make([]Source, 0, len(w.Series.Modules))
	for _, m := range w.Series.Modules {
		if m.Name == w.other.Name {
			continue
		}
		version, ok := pins[m.Path]
		if !ok {
			return nil, fmt.Errorf("go.mod does not pin %s: add a require line for it", m.Path)
		}
		sum, ok := sums[m.Path+" "+version]
		if !ok {
			return nil, fmt.Errorf("go.sum has no checksum of %s %s: run go mod tidy", m.Path, version)
		}
		sources = append(sources, Source{Module: m, Version: version, Sum: sum})
	}
	found, err := w.download(ctx, sources)
	if err != nil {
		return nil, err
	}
	for i, s := range found {
		if s.Sum != sources[i].Sum {
			return nil, fmt.Errorf("%s %s in the module cache does not match go.sum (%s, want %s): run go clean -modcache", s.Path, s.Version, s.Sum, sources[i].Sum)
		}
	}
	if at := slices.IndexFunc(w.Series.Modules, func(m edit.Module) bool { return m.Name == w.other.Name }); at >= 0 {
		found = slices.Insert(found, at, w.other)
	}
	return found, nil
}

// pins returns the versions by module path: those of Root's go.mod, overridden by those of the
// go.mod in the folder Pins.
func (w *Workspace) pins() (map[string]string, error) {
	pins := map[string]string{}
	for _, dir := range w.pinned() {
		name := filepath.Join(dir, "go.mod")
		content, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("pins: %w", err)
		}
		mod, err := modfile.Parse(name, content, nil)
		if err != nil {
			return nil, fmt.Errorf("pins: %w", err)
		}
		for _, r := range mod.Require {
			pins[r.Mod.Path] = r.Mod.Version
		}
	}
	return pins, nil
}

// pinned returns the folders with a go.mod and a go.sum that pin modules. The last one wins.
func (w *Workspace) pinned() []string {
	if w.Pins == "" {
		return []string{w.Root}
	}
	return []string{w.Root, filepath.Join(w.Root, w.Pins)}
}

// goSum returns the content of all go.sum files.
func (w *Workspace) goSum() ([]byte, error) {
	var all []byte
	for _, dir := range w.pinned() {
		content, err := os.ReadFile(filepath.Join(dir, "go.sum"))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("pins: %w", err)
		}
		all = append(all, content...)
	}
	return all, nil
}

// sums reads go.sum: "path version" to the checksum of the content.
func (w *Workspace) sums() (map[string]string, error) {
	content, err := w.goSum()
	sums := map[string]string{}
	for line := range strings.Lines(string(content)) {
		if f := strings.Fields(line); len(f) == 3 {
			sums[f[0]+" "+f[1]] = f[2]
		}
	}
	return sums, err
}

// download has the go command put modules into the module cache, and hashes their content. It
// works in a module of its own: go.mod and go.sum of this repository are only read.
func (w *Workspace) download(ctx context.Context, sources []Source) ([]Source, error) {
	dir, err := w.temp("download")
	if err != nil {
		return nil, err
	}
	sums, err := w.goSum()
	if err != nil {
		return nil, err
	}
	if err := errors.Join(
		os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module download\n"), 0o644),
		os.WriteFile(filepath.Join(dir, "go.sum"), sums, 0o644),
	); err != nil {
		return nil, err
	}
	args := []string{"mod", "download", "-json"}
	for _, s := range sources {
		args = append(args, s.Path+"@"+s.Version)
	}
	out, failed := w.golang(ctx, dir, args...)
	if ctx.Err() != nil {
		return nil, failed
	}
	found := make([]Source, 0, len(sources))
	answers := json.NewDecoder(strings.NewReader(out))
	for _, s := range sources {
		var answer struct{ Version, Dir, Error string }
		if err := answers.Decode(&answer); err != nil && failed == nil {
			return nil, fmt.Errorf("go mod download: %w", err)
		} else if err != nil {
			return nil, notFound(s, failed.Error())
		}
		if answer.Error != "" {
			return nil, notFound(s, answer.Error)
		}
		s.Version, s.Dir = answer.Version, answer.Dir
		if s.Sum, err = dirhash.HashDir(s.Dir, s.Path+"@"+s.Version, dirhash.Hash1); err != nil {
			return nil, fmt.Errorf("%s %s: %w", s.Path, s.Version, err)
		}
		found = append(found, s)
	}
	return found, nil
}

// notFound makes one line of the go command's output: the first paragraph has the reason.
func notFound(s Source, said string) error {
	said, _, _ = strings.Cut(said, "\n\n")
	reason := strings.Join(strings.Fields(said), " ")
	reason = strings.Trim(strings.TrimPrefix(reason, s.Path+"@"+s.Version+": "), ".")
	return fmt.Errorf("%s %s cannot be downloaded: %s: see go list -m -versions %s", s.Name, s.Version, reason, s.Path)
}
