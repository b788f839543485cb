// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"

	"github.com/urfave/cli/v3"

	"github.com/hookline-nri/hookline/internal/layout"
)

// laidOut runs do once everything of each patch has the patch's name. That is checked
// before the patches are applied: a misplaced file would not be added, and be missing
// later. What is of patches outside the core has its place in the whole series alone.
func (a *app) laidOut(do cli.ActionFunc) cli.ActionFunc {
	return func(ctx context.Context, cmd *cli.Command) error {
		if ofWhole(cmd) {
			if err := layout.Check(a.series, os.DirFS(a.root)); err != nil {
				return err
			}
		}
		return do(ctx, cmd)
	}
}
