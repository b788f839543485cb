// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/hookline-nri/hookline/internal/tree"
)

func (a *app) bump() *cli.Command {
	return &cli.Command{
		Name:      "bump",
		Usage:     "try the series on another version of a module",
		UsageText: "go run ./hack bump MODULE@VERSION",
		Description: `Prints for each patch of the module whether it fits that version, and if not, why.
It fails if one does not. Nothing is changed: to move to the version, change
go.mod and run check, which also compiles.`,
		Before: takes(1, "MODULE@VERSION"),
		Action: a.in(func(ctx context.Context, cmd *cli.Command, w *tree.Workspace) error {
			module, version, ok := strings.Cut(cmd.Args().First(), "@")
			if !ok || module == "" || version == "" {
				return fmt.Errorf("usage: bump MODULE@VERSION, as in bump %s@v1.2.3", a.product.Module)
			}
			source, fits, err := w.Try(ctx, module, version)
			if err != nil {
				return err
			}
			misfits := 0
			for _, f := range fits {
				if f.Err != nil {
					misfits++
					fmt.Fprintf(a.stdout, "misfit  %v\n", f.Err)
					continue
				}
				fmt.Fprintf(a.stdout, "fits    %s\n", f.Patch.Name())
			}
			if misfits > 0 {
				return fmt.Errorf("%d of %d patches do not fit %s %s", misfits, len(fits), source.Name, source.Version)
			}
			_, err = fmt.Fprintf(a.stdout, "all %d patches fit %s %s\n", len(fits), source.Name, source.Version)
			return err
		}),
	}
}
