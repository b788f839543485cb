// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"

	"github.com/urfave/cli/v3"
)

// inPlace runs do if all files of each patch are in the folder of its pull request. This is checked
// before the patches are applied: a misplaced file would not be added, and be missing later. Only
// the whole series can check the files of patches outside the core.
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
