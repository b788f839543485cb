// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Product describes the commands to build, and the module of the series that has them.
type Product struct {
	Module   string // short name of the last module, which is built with the others
	Commands []Command
	Tags     []string // build tags of all commands, and of checks and tests
	Vars     string   // package below the module's root whose Package, Version and Revision the linker sets
	Link     string   // further flags of the linker
}

// Command is one program of a product.
type Command struct {
	Package string   // below the module's root: "cmd/containerd"
	Tags    []string // build tags besides those of the product
	Cgo     bool     // built with cgo, which needs a C compiler and a static libc
	Added   bool     // a patch adds it, so that a tree without that patch lacks it
}

// Name is that of its binary.
func (c Command) Name() string { return path.Base(c.Package) }

// Platform is a platform to build binaries for, on Linux. The zero value is this machine.
type Platform struct {
	Arch string // as GOARCH has it
	CC   string // the C compiler for it
}

// env returns the environment for the go command to build for the platform. A release uses only
// what every machine of its kind has, whatever the caller's environment sets.
func (p Platform) env() []string {
	if p == (Platform{}) {
		return nil
	}
	return []string{"GOOS=linux", "GOARCH=" + p.Arch, "CC=" + p.CC, "GOAMD64=v1", "GOARM64=v8.0", "GOEXPERIMENT=", "GOFIPS140=off",
		"CGO_CFLAGS=-O2", "CGO_CPPFLAGS=", "CGO_LDFLAGS="}
}

// Revision names a state of the trees: it is the same for the same commits.
func Revision(trees []Tree) string {
	parts := []string{}
	for _, t := range trees {
		parts = append(parts, t.Name, t.Tip())
	}
	return key(parts...)[:12]
}

// Build builds the product's commands for this machine into the folder bin, each with its own
// tags. build goes behind the plus sign of their version. It returns the version, and whether
// anything was built.
func (w *Workspace) Build(ctx context.Context, trees []Tree, p Product, build string) (version string, fresh bool, err error) {
	return w.BuildFor(ctx, trees, p, build, Platform{}, w.path("bin"))
}

// BuildFor is Build for a platform, into a folder of its own.
func (w *Workspace) BuildFor(ctx context.Context, trees []Tree, p Product, build string, platform Platform, bin string) (version string, fresh bool, err error) {
	t, err := find(trees, p.Module)
	if err != nil {
		return "", false, err
	}
	p = p.in(t.Work)
	version = t.Version + "+" + build
	toolchain, err := w.toolchainWith(ctx, t.Work, platform.env(), "CC", "CGO_CFLAGS", "CGO_CPPFLAGS", "CGO_LDFLAGS")
	if err != nil {
		return "", false, err
	}
	if err := p.compiles(toolchain["CC"]); err != nil {
		return "", false, err
	}
	vars := t.Path + "/" + p.Vars
	link := fmt.Sprintf("-X %[1]s.Package=%[2]s -X %[1]s.Version=%[3]s -X %[1]s.Revision=%[4]s %[5]s", vars, t.Path, version, Revision(trees), p.Link)
	stamp := filepath.Join(bin, ".stamp")
	inputs := fmt.Sprintln(toolchain, link, p.Tags, p.Commands)
	if was, err := os.ReadFile(stamp); err == nil && string(was) == inputs+binaries(bin, p) {
		return version, false, nil
	}

	what := fmt.Sprintf("build %s %s: %s", t.Name, version, strings.Join(names(p), ", "))
	if platform.Arch != "" {
		what += " for linux/" + platform.Arch
	}
	end := w.Step(what)
	defer end()
	fresh = true
	made, err := w.temp("bin")
	if err != nil {
		return "", false, err
	}
	for _, c := range p.Commands {
		if err := w.buildCommand(ctx, t.Work, made, c, p.Tags, link, platform.env()); err != nil {
			return "", false, fmt.Errorf("build %s: %w", t.Name, err)
		}
	}
	// The stamp is removed before the first binary is built, and written after the last.
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

// buildCommand builds one command into a folder.
func (w *Workspace) buildCommand(ctx context.Context, dir, into string, c Command, tags []string, link string, env []string) error {
	args := append([]string{"build", "-buildvcs=false", "-o", into + "/", "-ldflags=" + link}, tagsFlag(slices.Concat(tags, c.Tags))...)
	if c.Cgo {
		env = append(env, "CGO_ENABLED=1")
	}
	_, err := w.golangWith(ctx, dir, env, append(args, "./"+c.Package)...)
	return err
}

// in returns the product with the commands that a work tree has.
func (p Product) in(work string) Product {
	p.Commands = slices.DeleteFunc(slices.Clone(p.Commands), func(c Command) bool {
		return c.Added && !exists(filepath.Join(work, c.Package))
	})
	return p
}

// upstreams returns the packages of the commands that every commit has.
func (p Product) upstreams() []string {
	var packages []string
	for _, c := range p.Commands {
		if !c.Added {
			packages = append(packages, "./"+c.Package)
		}
	}
	return packages
}

// compiles fails if the product needs a C compiler that is not installed.
func (p Product) compiles(cc string) error {
	program, _, _ := strings.Cut(cc, " ") // flags may follow
	for _, c := range p.Commands {
		if !c.Cgo {
			continue
		}
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Errorf("%s is not on the PATH: %s is built with cgo, install gcc with the headers and the static library of libc", program, c.Name())
		}
	}
	return nil
}

// names returns the file names of the product's commands.
func names(p Product) []string {
	var names []string
	for _, c := range p.Commands {
		names = append(names, c.Name())
	}
	return names
}

// binaries describes the files in bin, so that a replaced or removed one is noticed.
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
