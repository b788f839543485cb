// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v3"

	"github.com/hookline-nri/hookline/monitoring"
)

func (a *app) alerts() *cli.Command {
	return &cli.Command{
		Name:      "alerts",
		Usage:     "test the alerts with Prometheus' promtool",
		UsageText: "go run ./hack alerts",
		Description: `Checks the rules in monitoring/alerts.yaml, and that each alert fires for its series,
alone, and none while nothing happens. The first run builds promtool, which takes some
minutes.`,
		Before: takes(0, ""),
		Action: func(ctx context.Context, cmd *cli.Command) (err error) {
			out := cmd.String("output")
			// Without the code that finds targets in clouds.
			if err := a.goTool(ctx, "build promtool", filepath.Join("hack", "tools", "promtool"), out, "-tags", "remove_all_sd"); err != nil {
				return err
			}
			rules := filepath.Join(a.root, a.pages.Alerts, "alerts.yaml")
			test, err := monitoring.RulesTest(rules, monitoring.Alerts)
			if err != nil {
				return err
			}
			dir, err := os.MkdirTemp("", "hookline-alerts-")
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
			file := filepath.Join(dir, "test.yaml")
			if err := os.WriteFile(file, test, 0o644); err != nil {
				return err
			}
			promtool := filepath.Join(out, "tools", "bin", "promtool")
			if err := a.passes(ctx, ".", promtool, "check", "rules", "--lint=all", "--lint-fatal", rules); err != nil {
				return err
			}
			return a.passes(ctx, ".", promtool, "test", "rules", file)
		},
	}
}
