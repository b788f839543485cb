// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"io"

	"github.com/urfave/cli/v3"

	"github.com/hookline-nri/hookline/hack/docs"
)

func (a *app) list() *cli.Command {
	return &cli.Command{
		Name:      "list",
		Usage:     "list the patches: name, status, rules of the contract, reason",
		UsageText: "go run ./hack list [--markdown]",
		Flags:     []cli.Flag{&cli.BoolFlag{Name: "markdown", Usage: "print the table of docs/patches.md"}},
		Before:    takes(0, "[--markdown]"),
		Action: func(_ context.Context, cmd *cli.Command) error {
			if !cmd.Bool("markdown") {
				return plainTable(a.stdout, a.series)
			}
			_, err := io.WriteString(a.stdout, docs.PatchTable(a.series))
			return err
		},
	}
}
