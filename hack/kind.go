// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/hookline-nri/hookline/hack/kind"
)

// maker returns the maker of node image and cluster in the output folder.
func (a *app) maker(cmd *cli.Command) (kind.Maker, error) {
	out, err := filepath.Abs(cmd.String("output"))
	return kind.Maker{
		Root:    a.root,
		Out:     filepath.Join(out, "kind"),
		Bin:     filepath.Join(out, "bin"),
		Stock:   filepath.Join(out, "stock", "bin"),
		Tools:   filepath.Join(out, "tools", "bin"),
		Network: cmd.String("network"),
		Step:    a.progress.Step,
	}, err
}

func baseFlag() cli.Flag {
	return &cli.StringFlag{
		Name:  "base",
		Value: kind.Auto,
		Usage: "base `IMAGE`: one of kind's, or " + kind.Debian + "; " + kind.Auto + " takes " + kind.Released + " if it can be pulled",
	}
}

func networkFlag() cli.Flag {
	return &cli.StringFlag{
		Name:  "network",
		Usage: "what gives pods their `NETWORK`: " + kind.CNI + ", the default, or " + kind.Bridge + ", the example plugin, without CNI and with two families",
		Validator: func(network string) error {
			if network != kind.CNI && network != kind.Bridge {
				return fmt.Errorf("%q is neither %s nor %s", network, kind.CNI, kind.Bridge)
			}
			return nil
		},
	}
}

func (a *app) kindImage() *cli.Command {
	return &cli.Command{
		Name:      "kind-image",
		Usage:     "make a node image for kind with the built containerd",
		UsageText: "go run ./hack kind-image [--base IMAGE]",
		Description: `If a registry can be reached, the image is kind's own with the built binaries over it
(hack/kind/files/Dockerfile). Otherwise it is made of Debian's packages, of kind's own
files and of Kubernetes, built from the modules that hack/tools/kubernetes pins. That
needs root and mmdebstrap, and takes some eleven minutes of a processor the first
time; the results are kept.

If no Docker engine answers, one is started in namespaces and folders of its own, which
needs root and docker.io. kind --delete ends it and removes its files.

Run build and tools before.`,
		Flags:  []cli.Flag{baseFlag()},
		Before: takes(0, "[--base IMAGE]"),
		Action: func(ctx context.Context, cmd *cli.Command) error {
			m, err := a.maker(cmd)
			if err != nil {
				return err
			}
			_, err = a.nodeImage(ctx, m, cmd.String("base"))
			return err
		},
	}
}

// nodeImage makes the node image, and prints its base image.
func (a *app) nodeImage(ctx context.Context, m kind.Maker, base string) (kind.Engine, error) {
	e, err := m.AnyEngine(ctx)
	if err != nil {
		return e, err
	}
	over, err := m.MakeImage(ctx, e, base)
	if err != nil {
		return e, err
	}
	_, err = fmt.Fprintf(a.stdout, "%s over %s\n", kind.Image, over)
	return e, err
}

func (a *app) kind() *cli.Command {
	return &cli.Command{
		Name:      "kind",
		Usage:     "make a cluster of the node image: a control plane and a worker",
		UsageText: "go run ./hack kind [--base IMAGE] [--network NETWORK] | --delete",
		Description: `Makes the node image if it does not exist, and a cluster of it, with the settings of
hack/kind/files/hookline.toml. Prints how to reach the cluster, and how to remove it.`,
		Flags: []cli.Flag{
			baseFlag(),
			networkFlag(),
			&cli.BoolFlag{Name: "delete", Usage: "remove the cluster, the node image, and the engine if kind-image started it"},
		},
		Before: takes(0, "[--base IMAGE] [--network NETWORK] | --delete"),
		Action: func(ctx context.Context, cmd *cli.Command) error {
			m, err := a.maker(cmd)
			if err != nil {
				return err
			}
			if cmd.Bool("delete") {
				return m.Remove(ctx)
			}
			e, err := a.cluster(ctx, m, cmd.String("base"))
			if err != nil {
				return err
			}
			kubectl := append(e.Enter(), short(filepath.Join(m.Out, "bin", "kubectl")), "--kubeconfig", short(m.Kubeconfig()))
			_, err = fmt.Fprintf(a.stdout, "%s get pods -A\nmake kind-delete\n", strings.Join(kubectl, " "))
			return err
		},
	}
}

// cluster makes the cluster unless it exists.
func (a *app) cluster(ctx context.Context, m kind.Maker, base string) (kind.Engine, error) {
	if e, ok := m.Engine(ctx); ok && m.Exists(ctx, e) {
		return e, m.SameNetwork()
	}
	e, err := a.nodeImage(ctx, m, base)
	if err != nil {
		return e, err
	}
	return e, m.Create(ctx, e)
}
