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
		Usage:     "bring the trees to what the series says",
		UsageText: "go run ./hack apply",
		Description: `Each upstream module becomes a git repository in src/MODULE of the output
folder: the tag upstream is the module as published, the branch hookline has a
commit per patch. Only what changed is redone. A tree that was edited by hand
is left alone, and that is an error.`,
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
