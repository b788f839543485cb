// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/hookline-nri/hookline/integration/suites"
	"github.com/hookline-nri/hookline/internal/tree"
	"github.com/hookline-nri/hookline/testkit/node"
)

func (a *app) upstreamSuite() *cli.Command {
	return &cli.Command{
		Name:      "upstream-suite",
		Usage:     "run containerd's own tests of a running containerd on stock and on hookline (root)",
		UsageText: "go run ./hack upstream-suite [--without-pause] [--run REGEXP] [--write FILE]",
		Description: `Builds containerd's package integration, and its shim and CNI plugin that fail on
demand, from each source, with the tests that the patches bring. Runs them on a private
node of each runtime. It fails if a test passes on stock and fails twice on hookline,
since some tests fail now and then. It also fails if a test that a patch brings does not
fail on stock, on a node of its own. Tests that cannot run beside another containerd,
need a network or often fail by themselves are left out.

The output of the tests and containerd's logs are in upstream-suite in the output
folder. Run build, build --stock and tools before.`,
		Flags: []cli.Flag{
			withoutPause,
			&cli.StringFlag{Name: "run", Usage: "run only tests whose names match this `REGEXP`"},
			&cli.StringFlag{Name: "write", Usage: "record the results in this `FILE`"},
		},
		Before: takes(0, "[--without-pause] [--run REGEXP] [--write FILE]"),
		Action: a.in(a.runUpstreamSuite),
	}
}

func (a *app) runUpstreamSuite(ctx context.Context, cmd *cli.Command, w *tree.Workspace) error {
	wanted, err := regexp.Compile(cmd.String("run"))
	if err != nil {
		return fmt.Errorf("--run: %w", err)
	}
	out, err := filepath.Abs(filepath.Join(cmd.String("output"), "upstream-suite"))
	if err != nil {
		return err
	}
	end := a.progress.Step("make images")
	programs, err := suites.Make(ctx, filepath.Join(cmd.String("output"), "suites"))
	end()
	if err != nil {
		return err
	}
	registry, err := suites.NewRegistry(ctx, programs)
	if err != nil {
		return err
	}
	stock, err := w.Stock(a.product.Module)
	if err != nil {
		return err
	}
	sources := map[string]*tree.Workspace{"stock": stock, "hookline": w}
	on := func(side, folder string) suites.Options {
		return suites.Options{
			Node: node.Options{
				Bin: filepath.Join(sources[side].Out, "bin"), Tools: filepath.Join(cmd.String("output"), "tools", "bin"),
				WithoutPause: side == "hookline" && cmd.Bool(withoutPause.Name),
			},
			Folder: filepath.Join(out, folder), OwnPIDs: cmd.Bool(withoutPause.Name),
		}
	}
	results := map[string]suites.Results{}
	var patched suite
	for _, side := range sides {
		if patched, err = a.buildSuite(ctx, sources[side], filepath.Join(out, side+"-bin")); err != nil {
			return err
		}
		end := a.progress.Step("containerd's tests on " + side)
		results[side], err = registry.Containerd(ctx, on(side, side), patched.Containerd, cmd.String("run"))
		end()
		if err != nil {
			return err
		}
	}
	doubted := suites.Outermost(suites.Worse(results["stock"], results["hookline"]))
	if len(doubted) > 0 {
		end := a.progress.Step("once more on hookline: " + strings.Join(doubted, ", "))
		again, err := registry.Containerd(ctx, on("hookline", "hookline-again"), patched.Containerd, "^("+strings.Join(doubted, "|")+")$")
		end()
		if err != nil {
			return err
		}
		maps.Copy(results["hookline"], again)
	}
	brought := slices.DeleteFunc(patched.brought, func(test string) bool { return !wanted.MatchString(test) })
	for _, test := range brought {
		end := a.progress.Step(test + " on stock, where it must fail")
		bound, cancel := context.WithTimeout(ctx, 2*time.Minute)
		alone, err := registry.Containerd(bound, on("stock", "stock-"+test), patched.Containerd, "^"+test+"$")
		hangs := bound.Err() != nil && ctx.Err() == nil
		cancel()
		end()
		switch {
		case hangs: // and the whole node with it, if two calls wait for each other
			alone = suites.Results{test: {State: "failed"}}
		case err != nil:
			return err
		}
		results["stock"][test] = alone[test]
	}
	a.tell("", results)
	if file := cmd.String("write"); file != "" {
		if err := writeUpstreamSuite(file, cmd.String("run"), doubted, results); err != nil {
			return err
		}
	}
	return errors.Join(worse("containerd", out, results), bothWays(brought, results))
}

// bothWays fails unless the tests that the patches bring fail without them and pass with them.
func bothWays(brought []string, results map[string]suites.Results) error {
	var errs []error
	for _, test := range brought {
		if stock, hookline := results["stock"][test].State, results["hookline"][test].State; stock != "failed" || hookline != "passed" {
			errs = append(errs, fmt.Errorf("%s, which a patch brings, must fail on stock and pass on hookline, but the results are %q and %q", test, stock, hookline))
		}
	}
	return errors.Join(errs...)
}

// A suite is containerd's tests, built.
type suite struct {
	suites.Containerd
	brought []string // tests that the patches bring
}

// buildSuite builds the tests from a workspace's source of containerd, patched or not.
func (a *app) buildSuite(ctx context.Context, w *tree.Workspace, to string) (c suite, err error) {
	trees, err := w.Apply(ctx)
	if err != nil {
		return c, err
	}
	var source string
	for _, t := range trees {
		if t.Name == a.product.Module {
			source, c.brought = t.Work, tree.SuiteTests(t)
		}
	}
	if source == "" {
		return c, errors.New("no source of " + a.product.Module)
	}
	defer a.progress.Step("build containerd's tests")()
	c.Containerd = suites.Containerd{Tests: filepath.Join(to, "tests"), Shim: filepath.Join(to, "containerd-shim-runc-fp-v1"), CNI: filepath.Join(to, "cni-bridge-fp")}
	tags := "-tags=" + strings.Join(a.product.Tags, ",")
	for _, build := range [][]string{
		{"test", "-c", "-trimpath", "-buildvcs=false", tags, "-o", c.Tests, "./integration"},
		{"build", "-trimpath", "-buildvcs=false", tags + ",no_grpc", "-o", c.Shim, "./integration/failpoint/cmd/containerd-shim-runc-fp-v1"},
		{"build", "-trimpath", "-buildvcs=false", tags, "-o", c.CNI, "./integration/failpoint/cmd/cni-bridge-fp"},
	} {
		if _, err := prints(ctx, source, "go", build...); err != nil {
			return c, fmt.Errorf("go %s: %w", strings.Join(build, " "), err)
		}
	}
	return c, nil
}

// writeUpstreamSuite records the results.
func writeUpstreamSuite(file, match string, again []string, results map[string]suites.Results) error {
	b := new(strings.Builder)
	fmt.Fprintf(b, "# containerd's own tests\n\nPackage `integration` of containerd, side by side, as\n`make upstream-suite` wrote it%s.\n\n", only(match))
	fmt.Fprintln(b, "| | passed | failed | skipped |\n|---|---|---|---|")
	for _, side := range sides {
		r := results[side]
		fmt.Fprintf(b, "| %s | %d | %d | %d |\n", side, r.Count("passed"), r.Count("failed"), r.Count("skipped"))
	}
	if len(again) > 0 {
		fmt.Fprintf(b, "\nRun once more on hookline, since only stock passed: %s. The table has the results of that run.\n", strings.Join(again, ", "))
	}
	fmt.Fprintln(b, "\nLeft out:")
	for _, l := range suites.LeftOut {
		fmt.Fprintf(b, "- %s, which %s\n", strings.ReplaceAll(l.Tests, "|", ", "), l.Why)
	}
	fmt.Fprintln(b)
	if err := suites.Table(b, results["stock"], results["hookline"]); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(b.String()), 0o644)
}

// only returns a text that says which tests ran.
func only(match string) string {
	if match == "" {
		return ""
	}
	return " of the tests that match `" + match + "`"
}
