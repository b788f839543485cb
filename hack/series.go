// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/urfave/cli/v3"
)

// The series that a command can work on.
const (
	full = "full"
	core = "core" // where the full series begins
)

// ofCore are the commands that can work on the core. The others start the whole series.
var ofCore = []string{"list", "apply", "build", "diff", "check", "test", "export", "release", "demo", "conformance", "ladder", "critest", "upstream-suite", "clients", "bench"}

// chooseSeries takes only the patches of the core, and its name for builds, if a command works on
// the core.
func (a *app) chooseSeries(ctx context.Context, cmd *cli.Command) (context.Context, error) {
	switch name := cmd.String("series"); name {
	case full:
	case core:
		if command := cmd.Args().First(); !slices.Contains(ofCore, command) {
			return ctx, fmt.Errorf("%s works only on the whole series: leave out --series core", command)
		}
		a.series, a.config.build = a.series.Core(), a.coreBuild
	default:
		return ctx, fmt.Errorf("unknown series %q: want %s or %s", name, core, full)
	}
	return ctx, nil
}

// ofWhole reports whether a command works on the whole series.
func ofWhole(cmd *cli.Command) bool { return cmd.String("series") == full }

// below is the folder of the results of a series, in that of its target.
func below(cmd *cli.Command) string {
	if ofWhole(cmd) {
		return ""
	}
	return core
}
