// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/hookline-nri/hookline/hack/kind"
)

func (a *app) nodeConformance() *cli.Command {
	return &cli.Command{
		Name:      "node-conformance",
		Usage:     "run Kubernetes' node conformance tests on the built containerd and on stock",
		UsageText: "go run ./hack node-conformance [--focus RE] [--skip RE] [--at-a-time N] [--limit TIME]",
		Description: `Runs the tests of k8s.io/kubernetes/test/e2e_node on a node of the node image of Debian's packages, first
with the built containerd and then with stock, and prints one table of both. Where no image can be pulled,
images made here stand in for busybox, agnhost, pause and a few more; tests that want others fail on both.
Logs and reports stay in the output folder, kind/nodetests.

It builds what kind-image builds, and the tests: some minutes of a processor. Run build, build --stock
and tools before. It takes root, and apt-get for busybox.`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "focus", Value: `\[NodeConformance\]`, Usage: "the tests whose names match `RE`"},
			&cli.StringFlag{Name: "skip", Value: `\[Flaky\]|\[Slow\]|\[Serial\]`, Usage: "without those whose names match `RE`"},
			&cli.IntFlag{Name: "at-a-time", Value: 8, Usage: "`N` tests at a time: they wait more than they work"},
			&cli.DurationFlag{Name: "limit", Value: 2 * time.Hour, Usage: "end them after `TIME`, on each of the two"},
		},
		Before: takes(0, "[--focus RE] [--skip RE] [--at-a-time N] [--limit TIME]"),
		Action: func(ctx context.Context, cmd *cli.Command) error {
			m, err := a.maker(cmd)
			if err != nil {
				return err
			}
			e, err := a.nodeImage(ctx, m, kind.Debian)
			if err != nil {
				return err
			}
			if err := m.PrepareNodeTests(ctx, e); err != nil {
				return err
			}
			var specs [2][]kind.Spec
			for i, stock := range []bool{false, true} {
				var folder string
				specs[i], folder, err = m.RunNodeTests(ctx, e, stock, kind.NodeTests{
					Focus: cmd.String("focus"), Skip: cmd.String("skip"), Side: cmd.Int("at-a-time"), Limit: cmd.Duration("limit"),
				})
				if err != nil {
					return err
				}
				if _, err := fmt.Fprintf(a.stderr, "log and report in %s\n", short(folder)); err != nil {
					return err
				}
			}
			return kind.WriteNodeTests(a.stdout, specs[0], specs[1])
		},
	}
}
