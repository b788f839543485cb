// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/urfave/cli/v3"
	"golang.org/x/sync/errgroup"

	"github.com/hookline-nri/hookline/integration/suites"
	"github.com/hookline-nri/hookline/testkit/node"
)

// critestQuick are the tests of code that the patches change: the lives of pods and
// containers, repeated calls, networks of pods, and NRI.
var critestQuick = []string{
	"PodSandbox runtime should support basic operations on PodSandbox",
	"runtime should support (starting|stopping|removing .*) container \\[",
	"Idempotence", "port mapping", "\\[k8s.io\\] NRI ",
}

// critestRequest is how long plugins have for a request, on every runtime. critest blocks one in
// Synchronize for two seconds, the default timeout, after which it may or may not be dropped.
const critestRequest = 5 * time.Second

func (a *app) critest() *cli.Command {
	return &cli.Command{
		Name:      "critest",
		Usage:     "run Kubernetes' conformance test of CRI on stock and on hookline (root)",
		UsageText: "go run ./hack critest [--quick] [--without-pause] [--if-possible] [--focus REGEXP]... [--write FILE]",
		Description: `Builds critest from its module, with the cases of hack/tools/critest/proposed, which
are proposed to it. Builds its images from Debian's packages, and serves them on
loopback. Runs critest on a private node of each runtime at the same time. It fails on
any regression: if a test that passes on stock is skipped or fails on hookline, or if
one that is skipped on stock fails on hookline. It also fails if the whole series does
not pass a proposed case.

The output of critest, its reports and containerd's logs are in critest in the output
folder. Run build, build --stock and tools before.`,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "quick", Usage: "run only tests of code that the patches change"},
			withoutPause,
			&cli.BoolFlag{Name: "if-possible", Usage: "if a prerequisite is missing, say so and do nothing, unless CI is set"},
			&cli.StringSliceFlag{Name: "focus", Usage: "run only tests whose names match this `REGEXP`"},
			&cli.StringFlag{Name: "write", Usage: "record the results in this `FILE`"},
		},
		Before: takes(0, "[--quick] [--without-pause] [--if-possible] [--focus REGEXP]... [--write FILE]"),

		DisableSliceFlagSeparator: true, // a regular expression may have commas
		Action: func(ctx context.Context, cmd *cli.Command) error {
			err := a.runCritest(ctx, cmd)
			if errors.Is(err, node.ErrPrerequisite) && cmd.Bool("if-possible") && os.Getenv("CI") == "" {
				_, err = fmt.Fprintln(a.stdout, "critest is skipped:", err)
			}
			return err
		},
	}
}

func (a *app) runCritest(ctx context.Context, cmd *cli.Command) error {
	out := filepath.Join(cmd.String("output"), "critest")
	tools := filepath.Join(cmd.String("output"), "tools", "bin")
	runtimes := map[string]string{"stock": filepath.Join(built(cmd), "stock", "bin"), "hookline": filepath.Join(patched(cmd), "bin")}
	for _, side := range sides {
		if err := (node.Options{Bin: runtimes[side], Tools: tools}).Check(); err != nil {
			return err
		}
	}
	focus := cmd.StringSlice("focus")
	if cmd.Bool("quick") {
		focus = append(focus, critestQuick...)
	}
	program, err := a.buildCritest(ctx, out)
	if err != nil {
		return err
	}
	registry, err := a.critestImages(ctx, filepath.Join(cmd.String("output"), "suites"))
	if err != nil {
		return err
	}
	var mu sync.Mutex // guards results
	results := map[string]suites.Results{}
	end := a.progress.Step("critest on stock and hookline")
	group, ctx := errgroup.WithContext(ctx)
	for _, side := range sides {
		group.Go(func() error {
			on := node.Options{Bin: runtimes[side], Tools: tools, RequestTimeout: critestRequest, WithoutPause: side == "hookline" && cmd.Bool(withoutPause.Name)}
			r, err := registry.Critest(ctx, suites.Options{Node: on, Folder: filepath.Join(out, side), OwnPIDs: cmd.Bool(withoutPause.Name)}, program, focus)
			mu.Lock()
			defer mu.Unlock()
			results[side] = r
			return err
		})
	}
	err = group.Wait()
	end()
	if err != nil {
		return err
	}
	proposed, released := proposals(results)
	a.tell("", released)
	a.tell(" of the proposed cases", proposed)
	if file := cmd.String("write"); file != "" {
		if err := writeCritest(file, runtimes, released, proposed); err != nil {
			return err
		}
	}
	err = worse("critest", out, results)
	if !ofWhole(cmd) {
		return err // the ladder shows which cases the core passes
	}
	return errors.Join(err, kept(out, proposed["hookline"]))
}

// proposals divides the results of each side into those of cases that are proposed to critest,
// and those of cases that it has.
func proposals(results map[string]suites.Results) (proposed, released map[string]suites.Results) {
	proposed, released = map[string]suites.Results{}, map[string]suites.Results{}
	for _, side := range sides {
		proposed[side], released[side] = results[side].Split(func(r suites.Result) bool { return path.Base(r.File) == proposedFile })
	}
	return proposed, released
}

// kept fails unless hookline passes the proposed cases that ran. A case that is not in the focus
// is skipped without a reason.
func kept(out string, hookline suites.Results) error {
	if len(hookline) == 0 {
		return fmt.Errorf("the report of critest has no case of %s, which is proposed", proposedFile)
	}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(hookline)) {
		r := hookline[name]
		if r.State != "passed" && (r.State != "skipped" || r.Reason != "") {
			errs = append(errs, fmt.Errorf("%s, which is proposed to critest, does not pass on hookline, see %s: %s: %s",
				name, short(filepath.Join(out, "hookline", "output.txt")), r.State, r.Reason))
		}
	}
	return errors.Join(errs...)
}

func (a *app) critestImages(ctx context.Context, folder string) (suites.Registry, error) {
	defer a.progress.Step("make images")()
	programs, err := suites.Make(ctx, folder)
	if err != nil {
		return suites.Registry{}, err
	}
	return suites.NewRegistry(ctx, programs)
}

// writeCritest records the results.
func writeCritest(file string, runtimes map[string]string, released, proposed map[string]suites.Results) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# critest\n\nKubernetes' conformance test of CRI, side by side, as\n`make critest CRITEST=\"--write %s\"` made it.\nPlugins have %s for a request on both (`plugin_request_timeout`).\n\n", file, critestRequest)
	if err := sideBySide(&b, runtimes, released); err != nil {
		return err
	}
	fmt.Fprintf(&b, "\n## Proposed cases\n\nOf [%[1]s](../%[2]s/%[1]s), which critest does not have yet.\n\n", proposedFile, path.Join(critestModule, proposedFolder))
	if err := sideBySide(&b, runtimes, proposed); err != nil {
		return err
	}
	return os.WriteFile(file, b.Bytes(), 0o644)
}

func sideBySide(w io.Writer, runtimes map[string]string, results map[string]suites.Results) error {
	text := "| | runtime | passed | failed | skipped |\n|---|---|---|---|---|\n"
	for _, side := range sides {
		r := results[side]
		text += fmt.Sprintf("| %s | %s | %d | %d | %d |\n", side, version(runtimes[side]), r.Count("passed"), r.Count("failed"), r.Count("skipped"))
	}
	if _, err := fmt.Fprintln(w, text); err != nil {
		return err
	}
	return suites.Table(w, results["stock"], results["hookline"])
}
