// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/hookline-nri/hookline/internal/edit"
)

// Workspace is a series, its repository and the folder for its results. It holds the lock of that
// folder until it is closed.
type Workspace struct {
	Series edit.Series
	Root   string // has the go.mod and go.sum that pin the modules, and the files that patches bring
	Out    string // output folder, made where absent

	// Step is called before each step that takes a while. The function that it returns is
	// called when the step has ended. Step is never nil.
	Step func(what string) (end func())

	// Pins is a folder below Root whose go.mod and go.sum pin other versions of some
	// modules than Root's, if set.
	Pins string

	// BuildCache is the build cache of the go command in place of the user's, if set.
	BuildCache string

	other Source // in place of the pinned version of its module, if it has a name
	home  string // the locked folder
	tmp   string
	lock  *lock
}

// Open makes the output folder and takes its lock. purpose names the caller's work in the error of
// a run that finds the folder locked. step may be nil.
func Open(series edit.Series, root, out, purpose string, step func(string) func()) (*Workspace, error) {
	if err := prerequisites(); err != nil {
		return nil, err
	}
	if err := series.Validate(); err != nil {
		return nil, err
	}
	if step == nil {
		step = func(string) func() { return func() {} }
	}
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	out, err = filepath.Abs(out)
	if err != nil {
		return nil, err
	}
	w := &Workspace{Series: series, Root: root, Out: out, Step: step, home: out, tmp: filepath.Join(out, "tmp")}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return nil, unwritable(out, err)
	}
	if w.lock, err = acquire(filepath.Join(out, "lock"), purpose); err != nil {
		return nil, err
	}
	// A killed run may have left files here, which are of no use.
	if err := errors.Join(removeAll(w.tmp), os.MkdirAll(w.tmp, 0o755)); err != nil {
		return nil, errors.Join(unwritable(out, err), w.lock.release())
	}
	return w, nil
}

// Close removes temporary files and releases the lock.
func (w *Workspace) Close() error {
	return errors.Join(removeAll(w.tmp), w.lock.release())
}

// Below returns the workspace with a folder for its results inside the locked folder.
func (w *Workspace) Below(folder string) *Workspace {
	below := *w
	below.Out = filepath.Join(w.home, folder)
	return &below
}

// Stock returns the workspace of one module without patches, under the same lock.
func (w *Workspace) Stock(module string) (*Workspace, error) {
	for _, m := range w.Series.Modules {
		if m.Name == module {
			stock := w.Below("stock")
			stock.Series = edit.Series{Modules: []edit.Module{m}}
			return stock, nil
		}
	}
	return nil, fmt.Errorf("stock: the series has no module %q", module)
}

func (w *Workspace) path(elem ...string) string {
	return filepath.Join(append([]string{w.Out}, elem...)...)
}

// temp makes a new folder that lasts until the workspace is closed.
func (w *Workspace) temp(name string) (string, error) {
	return os.MkdirTemp(w.tmp, name+"-")
}

// prerequisites returns an error for a program that is missing on this machine, with its package.
func prerequisites() error {
	for _, need := range []struct{ program, install string }{
		{"git", "install the package git"},
		{"go", "install Go, at least the version that go.mod names"},
	} {
		if _, err := exec.LookPath(need.program); err != nil {
			return fmt.Errorf("%s is not on the PATH: %s", need.program, need.install)
		}
	}
	return nil
}

func unwritable(dir string, err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return fmt.Errorf("output folder %s: %w: make it writable or choose another one with --output", dir, err)
}

// removeAll removes a folder, even if folders in it are read-only, such as copies from the module
// cache and folders of a test.
func removeAll(dir string) error {
	if os.RemoveAll(dir) == nil {
		return nil
	}
	_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			_ = os.Chmod(path, 0o755)
		}
		return nil
	})
	return os.RemoveAll(dir)
}

// exists reports whether path exists.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// replaceFile writes a file so that it is either the old or the new one.
func replaceFile(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Chmod(0o644), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// cause returns the reason why a context ended, or err if it has not ended.
func cause(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
