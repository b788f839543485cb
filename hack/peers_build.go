// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/hookline-nri/hookline/internal/tree"
	"github.com/hookline-nri/hookline/testkit/host"
)

// nriModule is the module that differs between the two builds of a peer.
const nriModule = "github.com/containerd/nri"

// peer is a runtime other than containerd with NRI, as one of hack/tools pins it.
type peer struct {
	module, program string
	tags            []string
}

var pinnedPeers = map[string]peer{
	"crio": {
		module: "github.com/cri-o/cri-o", program: "cmd/crio",
		tags: []string{"containers_image_openpgp", "exclude_graphdriver_btrfs"},
	},
	"moby": {module: "github.com/moby/moby/v2", program: "cmd/dockerd"},
}

// buildPeers builds runtimes, each into a folder of its name.
func (a *app) buildPeers(ctx context.Context, cmd *cli.Command, names []string, out string) (err error) {
	w, err := a.open(cmd)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	trees, err := w.Apply(ctx)
	if err != nil {
		return err
	}
	for _, t := range trees {
		if t.Name != "nri" {
			continue
		}
		for _, name := range names {
			if err := a.buildPeer(ctx, name, t, filepath.Join(out, name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// buildPeer builds a runtime with the released NRI and with the patched one, each into the folder
// of its side.
func (a *app) buildPeer(ctx context.Context, name string, nri tree.Tree, out string) error {
	if _, err := exec.LookPath("gcc"); err != nil {
		return fmt.Errorf("%w: no gcc in PATH: install gcc and the headers of libc to build %s", host.ErrPrerequisite, name)
	}
	p, module := pinnedPeers[name], filepath.Join("hack", "tools", name)
	pins := filepath.Join(a.root, module)
	version, err := listed(ctx, pins, "{{.Version}}", nriModule)
	if err != nil {
		return err
	}
	if version != nri.Version {
		return fmt.Errorf("%s has NRI %s, and the patches are for %s: go get -C %s %s@%s", module, version, nri.Version, module, nriModule, nri.Version)
	}
	for _, side := range peerSides {
		end := a.progress.Step("build " + name + " with NRI as " + side)
		err := buildSide(ctx, p, pins, nri, side, filepath.Join(out, side))
		end()
		if err != nil {
			return fmt.Errorf("build %s with NRI as %s: %w", name, side, err)
		}
	}
	if name == "crio" {
		return buildPinns(ctx, pins, out)
	}
	return nil
}

// buildSide builds a runtime with the NRI of a side.
func buildSide(ctx context.Context, p peer, pins string, nri tree.Tree, side, to string) error {
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	modfile, err := copyPins(pins, to)
	if err != nil {
		return err
	}
	if side == "patched" {
		if err := goIn(ctx, pins, "mod", "edit", "-replace="+nriModule+"="+nri.Work, modfile); err != nil {
			return err
		}
	}
	return goIn(ctx, pins, "build", "-modfile="+modfile, "-trimpath", "-buildvcs=false", "-tags="+strings.Join(p.tags, ","),
		"-o", to+string(filepath.Separator), p.module+"/"+p.program)
}

// buildPinns builds the program of CRI-O that keeps the namespaces of pods, which is written in C.
func buildPinns(ctx context.Context, pins, out string) error {
	source, err := listed(ctx, pins, "{{.Dir}}", pinnedPeers["crio"].module)
	if err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(source, "pinns", "src", "*.c"))
	if err == nil && len(files) == 0 {
		err = errors.New("no C files")
	}
	if err != nil {
		return fmt.Errorf("find the source of pinns in %s: %w", source, err)
	}
	for _, side := range peerSides {
		args := append([]string{"-std=c99", "-Os", "-static", "-o", filepath.Join(out, side, "pinns")}, files...)
		if printed, err := exec.CommandContext(ctx, "gcc", args...).CombinedOutput(); err != nil {
			return fmt.Errorf("build pinns: %w\n%s", err, printed)
		}
	}
	return nil
}
