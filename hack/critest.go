// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/urfave/cli/v3"
	"golang.org/x/sync/errgroup"

	"github.com/hookline-nri/hookline/integration/node"
	"github.com/hookline-nri/hookline/integration/suites"
)

// critestModule pins critest.
const critestModule = "hack/tools/critest"

// critestCore are the tests about what the patches change: the lives of pods and
// containers, repeated calls, and networks of pods.
var critestCore = []string{
	"PodSandbox runtime should support basic operations on PodSandbox",
	"runtime should support (starting|stopping|removing .*) container \\[",
	"Idempotence", "port mapping",
}

func (a *app) critest() *cli.Command {
	return &cli.Command{
		Name:      "critest",
		Usage:     "run Kubernetes' conformance test of CRI on stock and on hookline (root)",
		UsageText: "go run ./hack critest [--core] [--if-possible] [--focus REGEXP]... [--write FILE]",
		Description: `Builds critest from its module and the images that it names from Debian's packages,
serves them on loopback, and runs critest on a private node of each runtime at the same
time. It fails if a test that stock passes does not pass on hookline.

What critest printed, its reports and containerd's logs are in critest in the output
folder. Run build, build --stock and tools before.`,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "core", Usage: "only tests about what the patches change"},
			&cli.BoolFlag{Name: "if-possible", Usage: "where a prerequisite is missing say so, and do nothing, unless CI is set"},
			&cli.StringSliceFlag{Name: "focus", Usage: "only tests whose names match this `REGEXP`"},
			&cli.StringFlag{Name: "write", Usage: "record the results in this `FILE`"},
		},
		Before: takes(0, "[--core] [--if-possible] [--focus REGEXP]... [--write FILE]"),
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
	runtimes := map[string]string{"stock": filepath.Join(built(cmd), "stock", "bin"), "hookline": filepath.Join(built(cmd), "bin")}
	for _, side := range sides {
		if err := (node.Options{Bin: runtimes[side], Tools: tools}).Check(); err != nil {
			return err
		}
	}
	focus := cmd.StringSlice("focus")
	if cmd.Bool("core") {
		focus = append(focus, critestCore...)
	}
	program, registry, err := a.makeCritest(ctx, out, filepath.Join(cmd.String("output"), "suites"))
	if err != nil {
		return err
	}
	var mu sync.Mutex // guards results
	results := map[string]suites.Results{}
	end := a.progress.Step("critest on stock and hookline")
	group, ctx := errgroup.WithContext(ctx)
	for _, side := range sides {
		group.Go(func() error {
			r, err := registry.Critest(ctx, suites.Options{Node: node.Options{Bin: runtimes[side], Tools: tools}, Folder: filepath.Join(out, side)}, program, focus)
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
	a.tell(results)
	if file := cmd.String("write"); file != "" {
		if err := writeCritest(file, runtimes, results); err != nil {
			return err
		}
	}
	return worse("critest", out, results)
}

// makeCritest builds critest and its images.
func (a *app) makeCritest(ctx context.Context, out, images string) (program string, r suites.Registry, err error) {
	program, err = filepath.Abs(filepath.Join(out, "critest"))
	if err != nil {
		return "", r, err
	}
	end := a.progress.Step("build critest")
	_, err = prints(ctx, filepath.Join(a.root, critestModule), "go", "test", "-c", "-trimpath", "-ldflags=-s -w", "-o", program, "sigs.k8s.io/cri-tools/cmd/critest")
	end()
	if err != nil {
		return "", r, fmt.Errorf("build critest: %w", err)
	}
	defer a.progress.Step("make images")()
	programs, err := suites.Make(ctx, images)
	if err != nil {
		return "", r, err
	}
	r, err = suites.NewRegistry(ctx, programs)
	return program, r, err
}

// writeCritest records the results.
func writeCritest(file string, runtimes map[string]string, results map[string]suites.Results) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# critest\n\nKubernetes' conformance test of CRI, side by side, as\n`make critest CRITEST=\"--write %s\"` made it.\n\n", file)
	fmt.Fprintln(&b, "| | runtime | passed | failed | skipped |\n|---|---|---|---|---|")
	for _, side := range sides {
		r := results[side]
		fmt.Fprintf(&b, "| %s | %s | %d | %d | %d |\n", side, version(runtimes[side]), r.Count("passed"), r.Count("failed"), r.Count("skipped"))
	}
	fmt.Fprintln(&b)
	if err := suites.Table(&b, results["stock"], results["hookline"]); err != nil {
		return err
	}
	return os.WriteFile(file, b.Bytes(), 0o644)
}
