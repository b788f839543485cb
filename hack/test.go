// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v3"

	"github.com/hookline-nri/hookline/internal/tree"
)

func (a *app) test() *cli.Command {
	return &cli.Command{
		Name:      "test",
		Usage:     "run upstream's own tests on the patched trees",
		UsageText: "go run ./hack test [PKG...]",
		Description: `Without arguments, tests the packages that the series touches and those around them. A
PKG begins with the name of a module: nri/pkg/adaptation, containerd/internal/cri/...
Failures that the patches do not cause are printed. The package counts as passed in two
cases: the test also fails without patches, or an upstream test passes without patches
and in a second run.`,
		Action: a.applied(func(ctx context.Context, cmd *cli.Command, w *tree.Workspace, trees []tree.Tree) error {
			var results []tree.Tests
			var err error
			if cmd.NArg() > 0 {
				results, err = w.TestOnly(ctx, trees, a.product.Tags, cmd.Args().Slice())
			} else {
				results, err = w.Test(ctx, trees, a.product.Tags, a.tests)
			}
			return a.tested(results, err)
		}),
	}
}

// tested prints the results of tests.
func (a *app) tested(results []tree.Tests, err error) error {
	for _, r := range results {
		fmt.Fprint(a.stderr, r.Output)
		fmt.Fprintf(a.stdout, "%s: %d packages passed (%d cached), %d failed, %d without tests\n", r.Module, r.Passed, r.Cached, r.Failed, r.Untested)
		for _, name := range r.Inherited {
			fmt.Fprintf(a.stdout, "%s: %s fails as published, too\n", r.Module, name)
		}
		for _, name := range r.Unsteady {
			fmt.Fprintf(a.stdout, "%s: %s failed once, but neither as published nor in a second run\n", r.Module, name)
		}
	}
	return err
}
