// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v3"

	"github.com/hookline-nri/hookline/internal/tree"
)

func (a *app) apply() *cli.Command {
	return &cli.Command{
		Name:      "apply",
		Usage:     "apply the patches, each module in a git repository",
		UsageText: "go run ./hack apply",
		Description: `Each upstream module becomes a git repository in src/MODULE of the output
folder. The tag upstream is the module as published; the branch hookline has one
commit per patch. Only changes are applied again. A tree that was edited by hand is
an error, and is left alone.`,
		Before: takes(0, ""),
		Action: a.applied(func(_ context.Context, _ *cli.Command, _ *tree.Workspace, trees []tree.Tree) error {
			for _, t := range trees {
				if _, err := fmt.Fprintf(a.stdout, "%s %s: %d patches, %d new, tip %s in %s\n",
					t.Name, t.Version, len(t.Commits), t.New, t.Tip(), short(t.Work)); err != nil {
					return err
				}
			}
			return nil
		}),
	}
}
