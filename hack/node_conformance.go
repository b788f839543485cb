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
		UsageText: "go run ./hack node-conformance [--focus RE] [--skip RE] [--at-a-time N] [--limit TIME] [--without-pause]",
		Description: `Runs the tests of k8s.io/kubernetes/test/e2e_node on a node of the Debian node image,
first with the built containerd and then with stock, and prints one table of both. If
no image can be pulled, images made here stand in for busybox, agnhost, pause and a
few more; tests that need other images fail on both. Logs and reports stay in the
output folder, in kind/nodetests.

It makes the node image as kind-image does, and builds the tests, which takes some
minutes of a processor. Run build, build --stock and tools before. It needs root, and
apt-get for busybox.`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "focus", Value: `\[NodeConformance\]`, Usage: "run only tests whose names match `RE`"},
			&cli.StringFlag{Name: "skip", Value: `\[Flaky\]|\[Slow\]|\[Serial\]`, Usage: "skip tests whose names match `RE`"},
			&cli.IntFlag{Name: "at-a-time", Value: 8, Usage: "run `N` tests at a time: they mostly wait"},
			&cli.DurationFlag{Name: "limit", Value: 2 * time.Hour, Usage: "end the tests after `TIME`, on each runtime"},
			&cli.BoolFlag{Name: "without-pause", Usage: "make the pods of hookline without a pause container"},
		},
		Before: takes(0, "[--focus RE] [--skip RE] [--at-a-time N] [--limit TIME] [--without-pause]"),
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
					WithoutPause: cmd.Bool("without-pause"),
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
