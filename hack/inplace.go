// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"

	"github.com/urfave/cli/v3"
)

// inPlace runs do once all of each patch is in the folder of its pull request. That is checked
// before the patches are applied: a misplaced file would not be added, and be missing
// later. What is of patches outside the core has its place in the whole series alone.
func (a *app) inPlace(do cli.ActionFunc) cli.ActionFunc {
	return func(ctx context.Context, cmd *cli.Command) error {
		if ofWhole(cmd) {
			if err := a.series.InPlace(os.DirFS(a.root)); err != nil {
				return err
			}
		}
		return do(ctx, cmd)
	}
}
