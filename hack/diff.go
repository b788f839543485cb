// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"io"

	"github.com/urfave/cli/v3"

	"github.com/hookline-nri/hookline/internal/tree"
)

func (a *app) diff() *cli.Command {
	return &cli.Command{
		Name:      "diff",
		Usage:     "show the changes of a patch in upstream's source",
		UsageText: "go run ./hack diff PATCH",
		Description: `PATCH is MODULE/SLUG, as list prints it. The slug alone is enough if only one
module has it.`,
		Before: takes(1, "PATCH"),
		Action: a.applied(func(ctx context.Context, cmd *cli.Command, w *tree.Workspace, trees []tree.Tree) error {
			diff, err := w.Diff(ctx, trees, cmd.Args().First())
			if err != nil {
				return err
			}
			_, err = io.WriteString(a.stdout, diff)
			return err
		}),
	}
}
