// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/urfave/cli/v3"

	"github.com/hookline-nri/hookline/internal/tree"
)

func (a *app) build() *cli.Command {
	return &cli.Command{
		Name:      "build",
		Usage:     "build containerd, ctr and the runc shim, patched or stock",
		UsageText: "go run ./hack build [--stock]",
		Description: `Binaries go to bin in the output folder. Their version names the release, their
revision the state of all patches. Nothing is built if nothing changed.`,
		Flags:  []cli.Flag{&cli.BoolFlag{Name: "stock", Usage: "build without patches, into stock/bin"}},
		Before: takes(0, "[--stock]"),
		Action: a.in(func(ctx context.Context, cmd *cli.Command, w *tree.Workspace) error {
			build := a.config.build
			if cmd.Bool("stock") {
				stock, err := w.Stock(a.product.Module)
				if err != nil {
					return err
				}
				w, build = stock, "stock"
			}
			trees, err := w.Apply(ctx)
			if err != nil {
				return err
			}
			version, built, err := w.Build(ctx, trees, a.product, build)
			if err != nil {
				return err
			}
			state := "unchanged"
			if built {
				state = "built"
			}
			_, err = fmt.Fprintf(a.stdout, "%s %s revision %s in %s: %s\n",
				a.product.Module, version, tree.Revision(trees), short(filepath.Join(w.Out, "bin")), state)
			return err
		}),
	}
}
