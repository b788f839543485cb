// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v3"

	"github.com/hookline-nri/hookline/internal/tree"
)

func (a *app) export() *cli.Command {
	return &cli.Command{
		Name:      "export",
		Usage:     "write the series, or one pull request of it, as mails for git am",
		UsageText: "go run ./hack export [--signoff] [-o DIR] [--group NAME [--onto CLONE]]",
		Description: `Each patch becomes MODULE/NNNN-SLUG.patch, which git am applies on top of upstream's
tag. Without --signoff the mails are not signed off. With it, they are from you and
signed off by you, with the identity of your git settings.

--group writes one pull request: its patches and, in needs/, the patches that have to
be merged before. --onto makes it the branch NAME of a clone of upstream, on the
release that go.mod pins, signed off by you. If the clone has a vendor folder,
upstream's "make vendor" updates it in each commit that needs that. Nothing is pushed.`,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "signoff", Usage: "sign off with your own git identity"},
			&cli.StringFlag{Name: "group", Usage: "write the pull request `NAME` of docs/upstreaming.md"},
			&cli.StringFlag{Name: "onto", Usage: "make the pull request a branch of the `CLONE` of upstream"},
			&cli.StringFlag{Name: "o", Usage: "write to `FOLDER`", DefaultText: "series in the output folder"},
		},
		Before: takes(0, "[--signoff] [-o DIR] [--group NAME [--onto CLONE]]"),
		Action: a.in(func(ctx context.Context, cmd *cli.Command, w *tree.Workspace) error {
			signer := ""
			if cmd.Bool("signoff") || cmd.String("onto") != "" {
				var err error
				if signer, err = tree.Signer(ctx, a.root); err != nil {
					return err
				}
			}
			trees, err := w.Apply(ctx)
			if err != nil {
				return err
			}
			if name := cmd.String("group"); name != "" {
				return a.exportGroup(ctx, cmd, w, name, signer)
			}
			if cmd.String("onto") != "" {
				return errors.New("--onto needs a pull request: name it with --group")
			}
			dir := cmd.String("o")
			if dir == "" {
				dir = filepath.Join(w.Out, "series")
			}
			n, err := w.Export(ctx, trees, dir, signer)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(a.stdout, "%d patches in %s\n", n, short(dir))
			return err
		}),
	}
}

// exportGroup writes one pull request, or makes it a branch of a clone of upstream.
func (a *app) exportGroup(ctx context.Context, cmd *cli.Command, w *tree.Workspace, name, signer string) error {
	g, err := a.series.Group(name)
	if err != nil {
		return err
	}
	dir := cmd.String("o")
	if dir == "" {
		dir = filepath.Join(w.Out, "groups", name)
	}
	needs, own, err := w.ExportGroup(ctx, g, dir, signer)
	if err != nil {
		return err
	}
	for _, before := range a.series.Needs(g) {
		title, err := before.Title(os.DirFS(a.root))
		if err != nil {
			return err
		}
		fmt.Fprintf(a.stdout, "needs %s: %s\n", before.Name(), title)
	}
	if _, err := fmt.Fprintf(a.stdout, "%d patches in %s, %d that they need in %s\n", own, short(dir), needs, short(filepath.Join(dir, "needs"))); err != nil {
		return err
	}
	clone := cmd.String("onto")
	if clone == "" {
		return nil
	}
	onto, err := w.Onto(ctx, g, dir, clone)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.stdout, "branch %s of %s, on %s: read it, then push it and open the pull request with %s\n", g.Name(), short(clone), onto, g.Page())
	return err
}
