// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/urfave/cli/v3"

	"github.com/hookline-nri/hookline/hack/demo"
	"github.com/hookline-nri/hookline/testkit/node"
)

func (a *app) demo() *cli.Command {
	return &cli.Command{
		Name:      "demo",
		Usage:     "show which NRI events plugins receive on a private node, and which rules hold (root)",
		UsageText: "go run ./hack demo [--runtime stock]",
		Description: `Starts the built containerd on a private node, with folders, sockets and namespaces of
its own. Connects plugins, among them one that fails and one that hangs, and creates,
stops and removes pods. Prints which plugin received which event, and which rules of
the contract held, and removes the node. The events are drawn in _output/demo (for
stock in _output/demo-stock): demo.svg, traces.otlp.json for Jaeger,
traces.chrome.json for Perfetto. Run build and tools before.`,
		Flags:  []cli.Flag{&cli.StringFlag{Name: "runtime", Value: "hookline", Usage: "`NAME`: hookline, or stock for containerd without patches"}},
		Before: takes(0, "[--runtime stock]"),
		Action: func(ctx context.Context, cmd *cli.Command) error {
			out := cmd.String("output")
			options := node.Options{Bin: filepath.Join(patched(cmd), "bin"), Tools: filepath.Join(out, "tools", "bin")}
			folder := filepath.Join(patched(cmd), "demo")
			switch name := cmd.String("runtime"); name {
			case "hookline":
			case "stock":
				folder += "-stock"
				options.Bin = filepath.Join(built(cmd), "stock", "bin")
			default:
				return fmt.Errorf("unknown runtime %q: want hookline or stock", name)
			}
			return demo.Run(ctx, options, a.stdout, folder, a.progress.Step)
		},
	}
}
