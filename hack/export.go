// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/urfave/cli/v3"

	"github.com/hookline-nri/hookline/internal/tree"
)

func (a *app) export() *cli.Command {
	return &cli.Command{
		Name:      "export",
		Usage:     "write the series as mail for git am",
		UsageText: "go run ./hack export [--signoff] [-o DIR]",
		Description: `Each patch becomes MODULE/NNNN-SLUG.patch, which git am applies on top of
upstream's tag. Without --signoff nobody signs off. With it, the mail is from you
and signed off by you, with the identity of your git settings.`,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "signoff", Usage: "sign off with your own git identity"},
			&cli.StringFlag{Name: "o", Usage: "write to `FOLDER`", DefaultText: "series in the output folder"},
		},
		Before: takes(0, "[--signoff] [-o DIR]"),
		Action: a.in(func(ctx context.Context, cmd *cli.Command, w *tree.Workspace) error {
			signer := ""
			if cmd.Bool("signoff") {
				var err error
				if signer, err = tree.Signer(ctx, a.root); err != nil {
					return err
				}
			}
			trees, err := w.Apply(ctx)
			if err != nil {
				return err
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
