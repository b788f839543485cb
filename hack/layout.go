// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"

	"github.com/urfave/cli/v3"

	"github.com/hookline-nri/hookline/internal/layout"
)

// laidOut does something once everything of each patch has the patch's name.
// It comes before the patches are applied: what is misplaced is not brought,
// and then misses later.
func (a *app) laidOut(do cli.ActionFunc) cli.ActionFunc {
	return func(ctx context.Context, cmd *cli.Command) error {
		if err := layout.Check(a.series, os.DirFS(a.root)); err != nil {
			return err
		}
		return do(ctx, cmd)
	}
}
