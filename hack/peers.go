// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/hookline-nri/hookline/integration/suites"
)

func (a *app) peers() *cli.Command {
	return &cli.Command{
		Name:      "peers",
		Usage:     "run CRI-O and moby with the released NRI and with the patched one (root)",
		UsageText: "go run ./hack peers [--only crio|moby] [--case NAME]... [--write FOLDER]",
		Description: `Builds CRI-O and moby's daemon from their modules, each with the released NRI and with
the patched one, and runs each on a host of its own: CRI-O with the cases of
nri-conformance and the NRI cases of critest, moby with the tests of integration/moby.
It fails if a case passes with the released NRI and fails twice with the patched NRI.

Output, reports and the runtimes' logs are in peers in the output folder. Run tools and
build --stock before. CRI-O needs the package conmon.`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "only", Usage: "`NAME` of the only peer to run"},
			&cli.StringSliceFlag{Name: "case", Usage: "run only the case of this `NAME`"},
			&cli.DurationFlag{Name: "soon", Value: 6 * time.Second, Usage: "`TIME` to wait for an event that should come within moments"},
			&cli.StringFlag{Name: "write", Usage: "record the results in this `FOLDER`, a file for each peer"},
		},
		Before: takes(0, "[--only crio|moby] [--case NAME]... [--write FOLDER]"),

		DisableSliceFlagSeparator: true, // names of critest's cases have commas
		Action:                    a.runPeers,
	}
}

// peerSides are the versions of NRI that a peer is built with. The first one is the reference.
var peerSides = []string{"released", "patched"}

// peerRun has the folders and the timeout for the cases of a peer.
type peerRun struct {
	out, tools string
	stock      string // folder of the released containerd
	images     string // folder of the sources of the suites' images
	soon       time.Duration
}

// peerCases run a peer's cases on one side, only those of the list if it is not empty. The reason of
// a case that passes has its measurements.
var peerCases = map[string]func(a *app, ctx context.Context, r peerRun, side string, cases []string) (suites.Results, error){
	"crio": (*app).crioCases,
	"moby": (*app).mobyCases,
}

func (a *app) runPeers(ctx context.Context, cmd *cli.Command) error {
	names := slices.Sorted(maps.Keys(peerCases))
	if only := cmd.String("only"); only != "" {
		if peerCases[only] == nil {
			return fmt.Errorf("--only %s: want %s", only, strings.Join(names, " and "))
		}
		names = []string{only}
	}
	out, err := filepath.Abs(filepath.Join(cmd.String("output"), "peers"))
	if err != nil {
		return err
	}
	if err := a.buildPeers(ctx, cmd, names, out); err != nil {
		return err
	}
	r := peerRun{
		tools: filepath.Join(cmd.String("output"), "tools", "bin"), stock: filepath.Join(built(cmd), "stock", "bin"),
		images: filepath.Join(cmd.String("output"), "suites"), soon: cmd.Duration("soon"),
	}
	var worse []error
	for _, name := range names {
		r.out = filepath.Join(out, name)
		results, err := a.onBothSides(ctx, name, r, cmd.StringSlice("case"))
		if err != nil {
			return err
		}
		worse = append(worse, worseOn(name, r.out, results))
		if folder := cmd.String("write"); folder != "" {
			worse = append(worse, writePeer(folder, name, results))
		}
	}
	return errors.Join(worse...)
}

// onBothSides runs the cases of a peer with the released NRI and with the patched one. Cases that
// pass only with the released one are run once more.
func (a *app) onBothSides(ctx context.Context, name string, r peerRun, cases []string) (map[string]suites.Results, error) {
	results := map[string]suites.Results{}
	for _, side := range peerSides {
		end := a.progress.Step(name + " with NRI as " + side)
		found, err := peerCases[name](a, ctx, r, side, cases)
		end()
		if err != nil {
			return nil, fmt.Errorf("%s with NRI as %s: %w", name, side, err)
		}
		results[side] = found
		fmt.Fprintf(a.stdout, "%s with NRI as %s: %d passed, %d failed, %d others\n", name, side,
			found.Count("passed"), found.Count("failed"), len(found)-found.Count("passed")-found.Count("failed"))
	}
	doubted := suites.Worse(results["released"], results["patched"])
	if len(doubted) == 0 {
		return results, nil
	}
	defer a.progress.Step("once more with NRI as patched: " + strings.Join(doubted, ", "))()
	again, err := peerCases[name](a, ctx, r, "patched", doubted)
	maps.Copy(results["patched"], again)
	return results, err
}

// worseOn fails if a case of a peer passes with the released NRI and not with the patched one.
func worseOn(name, out string, results map[string]suites.Results) error {
	cases := suites.Worse(results["released"], results["patched"])
	if len(cases) == 0 {
		return nil
	}
	return fmt.Errorf("these cases on %s pass with the released NRI and not with the patched one, see %s:\n%s",
		name, short(filepath.Join(out, "patched")), strings.Join(cases, "\n"))
}
