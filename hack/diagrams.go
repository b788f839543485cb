// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v3"
)

func (a *app) diagrams() *cli.Command {
	return &cli.Command{
		Name:      "diagrams",
		Usage:     "render the diagrams of the documentation",
		UsageText: "go run ./hack diagrams",
		Before:    takes(0, ""),
		Action: func(ctx context.Context, cmd *cli.Command) error {
			out := cmd.String("output")
			if err := a.goTool(ctx, "build d2", filepath.Join("hack", "tools", "diagrams"), out); err != nil {
				return err
			}
			sources, err := filepath.Glob(filepath.Join(a.root, "docs", "diagrams", "*.d2"))
			if err != nil {
				return err
			}
			for _, source := range sources {
				rendered := strings.TrimSuffix(source, ".d2") + ".svg"
				if err := a.passes(ctx, ".", filepath.Join(out, "tools", "bin", "d2"), "--layout", "dagre", "--pad", "10", source, rendered); err != nil {
					return err
				}
			}
			return nil
		},
	}
}
