// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Bin is the folder of the binaries on a node.
const Bin = "/opt/hookline/bin"

// programs are those that replace the distribution's.
var programs = []string{"containerd", "containerd-shim-runc-v2", "ctr"}

// optional are programs that a build may have besides. Once placed they stay, because pods may use them.
var optional = []string{"containerd-shim-sandboxed-runc-v2"}

// looker is the program beside them that looks for a newer containerd of the distribution whenever
// containerd starts.
const looker = "hookline-install"

// Installed is the result of Install.
type Installed struct {
	Distribution string   // program and version
	Version      string   // of the build
	Notes        []string // defaults that differ
}

// Install puts the programs of folder from onto the node. self is a program that serves "check
// --newer", to be put beside them; if it is empty, nothing looks for a newer containerd at a start.
func (n Node) Install(ctx context.Context, from, self string) (done Installed, err error) {
	distribution, err := n.replaced()
	if err != nil {
		return done, err
	}
	if err := n.mayWrite(); err != nil {
		return done, err
	}
	// Beside their final place, where they report version and configuration.
	defer func() { err = errors.Join(err, n.unstage()) }()
	if err := n.stage(from, self, staged); err != nil {
		return done, err
	}
	if self != "" {
		if _, _, err := n.ask(ctx, path.Join(staged, looker), "--version"); err != nil {
			return done, err
		}
	}
	if done, err = n.compared(ctx, distribution, staged); err != nil {
		return done, err
	}
	if err := n.place(staged, self != ""); err != nil {
		return done, fmt.Errorf("%w: some programs of this build are in place: install it again, or undo", err)
	}
	return done, n.write(dropInFile, distribution.override(Bin, self != ""))
}

// staged is where programs are before they are placed.
const staged = Bin + ".new"

// unstage removes it.
func (n Node) unstage() error {
	dir, err := n.path(staged)
	if err != nil {
		return err
	}
	err = os.RemoveAll(dir)
	_ = os.Remove(filepath.Dir(dir)) // if nothing is installed
	return err
}

// Check compares the installed programs with the distribution's, as Install does before: the
// distribution may have been updated since, and the configuration changed.
func (n Node) Check(ctx context.Context) (Installed, error) {
	distribution, err := n.replaced()
	if err != nil {
		return Installed{}, err
	}
	if _, err := n.read(path.Join(Bin, "containerd")); errors.Is(err, os.ErrNotExist) {
		return Installed{}, fmt.Errorf("%s has no %s: nothing is installed", n.Root, Bin)
	}
	return n.compared(ctx, distribution, Bin)
}

// looking is how long Newer waits for the programs of the node. containerd starts after it.
const looking = 5 * time.Second

// Newer returns an error if the distribution's containerd is newer than the installed one, so that
// the node lacks fixes. It asks both for their version, and changes nothing.
func (n Node) Newer(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, looking)
	defer cancel()
	done := make(chan error, 1)
	go func() { // a disk may hang, too
		distribution, _, err := n.distribution()
		if err == nil {
			_, err = n.versions(ctx, distribution, Bin)
		}
		done <- err
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return fmt.Errorf("compare the versions of containerd: %w", ctx.Err())
	}
}

// replaced returns the command of the distribution that the drop-in replaces.
func (n Node) replaced() (command, error) {
	distribution, after, err := n.distribution()
	if err == nil && len(after) > 0 {
		err = fmt.Errorf("%s.d/%s changes what systemd starts, and comes after %s: merge it into the unit first", service, after[0], dropIn)
	}
	return distribution, err
}

// compared fails unless the programs of a folder may replace the distribution's.
func (n Node) compared(ctx context.Context, distribution command, folder string) (done Installed, err error) {
	if done, err = n.versions(ctx, distribution, folder); err != nil {
		return done, err
	}
	done.Notes, err = n.configured(ctx, distribution, path.Join(folder, "containerd"))
	return done, err
}

// versions fails unless the version of a build may replace the distribution's.
func (n Node) versions(ctx context.Context, distribution command, folder string) (done Installed, err error) {
	has, said, err := n.version(ctx, distribution.program)
	if err != nil {
		return done, err
	}
	done.Distribution = distribution.program + " " + said
	build, said, err := n.version(ctx, path.Join(folder, "containerd"))
	if err != nil {
		return done, err
	}
	done.Version = said
	return done, fits(has, build)
}

// configured compares how a build and the distribution's containerd read the node's
// configuration.
func (n Node) configured(ctx context.Context, distribution command, build string) (notes []string, err error) {
	defaults, err := n.defaults(ctx, distribution.program)
	if err != nil {
		return nil, err
	}
	was, _, err := n.dump(ctx, distribution.program, distribution.config())
	if err != nil {
		return nil, err
	}
	is, unknown, err := n.dump(ctx, build, distribution.config())
	if err != nil {
		return nil, err
	}
	if len(unknown) > 0 {
		return nil, fmt.Errorf("the configuration of the node has settings that do not exist, and that would have no effect: %s", strings.Join(unknown, ", "))
	}
	return compare(defaults, was, is)
}

// stage copies the programs to a folder of the node.
func (n Node) stage(from, self, to string) error {
	dir, err := n.path(to)
	if err != nil {
		return err
	}
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o755)); err != nil {
		return err
	}
	for _, name := range slices.Concat(programs, present(from, optional)) {
		if err := copyProgram(filepath.Join(from, name), filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	if self == "" {
		return nil
	}
	return copyProgram(self, filepath.Join(dir, looker))
}

// present returns those names that a folder has.
func present(folder string, names []string) (has []string) {
	for _, name := range names {
		if _, err := os.Lstat(filepath.Join(folder, name)); err == nil {
			has = append(has, name)
		}
	}
	return has
}

func copyProgram(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return fmt.Errorf("program to install: %w", err)
	}
	defer func() { _ = in.Close() }()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	if _, err := io.Copy(out, in); err != nil {
		return err
	}
	// It must survive a power cut, as the drop-in does that names it.
	return errors.Join(out.Chmod(0o755), out.Sync())
}

// place moves staged programs to their final place. Each replaces the former one in an instant:
// running programs keep running.
func (n Node) place(staged string, looks bool) error {
	from, err := n.path(staged)
	if err != nil {
		return err
	}
	to, err := n.path(Bin)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	placed := slices.Concat(programs, present(from, optional))
	if looks {
		placed = append(placed, looker)
	}
	for _, name := range placed {
		if err := os.Rename(filepath.Join(from, name), filepath.Join(to, name)); err != nil {
			return err
		}
	}
	return syncFolder(to) // before the drop-in names them
}

// syncFolder makes the entries of a folder safe from a loss of power.
func syncFolder(name string) error {
	d, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
