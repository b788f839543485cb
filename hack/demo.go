// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/urfave/cli/v3"

	"github.com/hookline-nri/hookline/hack/demo"
	"github.com/hookline-nri/hookline/integration/node"
)

func (a *app) demo() *cli.Command {
	return &cli.Command{
		Name:      "demo",
		Usage:     "show pods and plugins on a private node, and which rules hold (root)",
		UsageText: "go run ./hack demo [--runtime stock]",
		Description: `Starts the built containerd on private folders, sockets and namespaces, connects
plugins of which one fails and one hangs, takes pods through their life, and
prints who was told what and which rules of the contract held. Nothing is left
of it. Needs build and tools before.`,
		Flags:  []cli.Flag{&cli.StringFlag{Name: "runtime", Value: "hookline", Usage: "`NAME`: hookline, or stock for containerd as it is released"}},
		Before: takes(0, "[--runtime stock]"),
		Action: func(ctx context.Context, cmd *cli.Command) error {
			out := cmd.String("output")
			options := node.Options{Bin: filepath.Join(out, "bin"), Tools: filepath.Join(out, "tools", "bin")}
			switch name := cmd.String("runtime"); name {
			case "hookline":
			case "stock":
				options.Bin = filepath.Join(out, "stock", "bin")
			default:
				return fmt.Errorf("there is no runtime %q: hookline or stock", name)
			}
			return demo.Run(ctx, options, a.stdout, a.progress.step)
		},
	}
}
