// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Product says what is built, and from which module of the series.
type Product struct {
	Module   string   // short name; it is the last module, the others are what it is built with
	Commands []string // packages below the module's root: "cmd/containerd"
	Tags     []string // build tags
	Vars     string   // package below the module's root whose Package, Version and Revision the linker sets
}

// Revision names a state of the trees: it is the same for the same commits.
func Revision(trees []Tree) string {
	parts := []string{}
	for _, t := range trees {
		parts = append(parts, t.Name, t.Tip())
	}
	return key(parts...)[:12]
}

// Build builds the product's commands into the folder bin. build is put behind
// the plus sign of their version. It returns the version, and whether there was
// anything to do.
func (w *Workspace) Build(ctx context.Context, trees []Tree, p Product, build string) (version string, fresh bool, err error) {
	t, err := find(trees, p.Module)
	if err != nil {
		return "", false, err
	}
	version = t.Version + "+" + build
	toolchain, err := w.toolchain(ctx, t.Work)
	if err != nil {
		return "", false, err
	}
	vars := t.Path + "/" + p.Vars
	args := append([]string{"build", "-buildvcs=false"}, tagsFlag(p.Tags)...)
	args = append(args, fmt.Sprintf("-ldflags=-X %[1]s.Package=%[2]s -X %[1]s.Version=%[3]s -X %[1]s.Revision=%[4]s", vars, t.Path, version, Revision(trees)))
	for _, c := range p.Commands {
		args = append(args, "./"+c)
	}
	bin, stamp := w.path("bin"), w.path("bin", ".stamp")
	inputs := toolchain + "\n" + strings.Join(args, "\n") + "\n"
	if was, err := os.ReadFile(stamp); err == nil && string(was) == inputs+binaries(bin, p) {
		return version, false, nil
	}

	end := w.Step(fmt.Sprintf("build %s %s: %s", t.Name, version, strings.Join(names(p), ", ")))
	defer end()
	fresh = true
	made, err := w.temp("bin")
	if err != nil {
		return "", false, err
	}
	args = append(args[:1:1], append([]string{"-o", made + "/"}, args[1:]...)...)
	if _, err := w.golang(ctx, t.Work, args...); err != nil {
		return "", false, fmt.Errorf("build %s: %w", t.Name, err)
	}
	// The stamp goes before the first binary and comes after the last.
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return "", false, err
	}
	if err := os.Remove(stamp); err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", false, err
	}
	for _, name := range names(p) {
		if err := os.Rename(filepath.Join(made, name), filepath.Join(bin, name)); err != nil {
			return "", false, err
		}
	}
	return version, fresh, replaceFile(stamp, []byte(inputs+binaries(bin, p)))
}

// names are the file names of the product's commands.
func names(p Product) []string {
	var names []string
	for _, c := range p.Commands {
		names = append(names, path.Base(c))
	}
	return names
}

// binaries describes what stands in bin, so that a file that was replaced or
// removed is seen.
func binaries(bin string, p Product) string {
	var b strings.Builder
	for _, name := range names(p) {
		info, err := os.Stat(filepath.Join(bin, name))
		if err != nil {
			fmt.Fprintf(&b, "%s missing\n", name)
			continue
		}
		fmt.Fprintf(&b, "%s %d bytes of %d\n", name, info.Size(), info.ModTime().UnixNano())
	}
	return b.String()
}

func find(trees []Tree, name string) (Tree, error) {
	for _, t := range trees {
		if t.Name == name {
			return t, nil
		}
	}
	return Tree{}, fmt.Errorf("the series has no module %q", name)
}
