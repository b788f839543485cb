// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/urfave/cli/v3"
	"golang.org/x/sync/errgroup"

	"github.com/hookline-nri/hookline/conformance/report"
	"github.com/hookline-nri/hookline/hack/docs"
	"github.com/hookline-nri/hookline/internal/tree"
)

func (a *app) ladder() *cli.Command {
	return &cli.Command{
		Name:      "ladder",
		Usage:     "run the conformance test after each pull request (root)",
		UsageText: "go run ./hack [--series core] ladder [--parallel N] [--soon TIME]",
		Description: `Builds containerd as released, with the libraries that the patches are made for, and
then with one more pull request each time, in the order of docs/upstreaming.md. Each
build is a rung: the conformance test runs on it, and the cases that pass are recorded
in reports/ladder.json. From this record, check --update makes the table of
docs/upstreaming.md and the one of the README. A recorded rung whose code has not
changed is not run again, so an interrupted run can be continued. Several rungs run
side by side, each on a node of its own. A case that fails, but passed on the rung
before, is run once more, alone. A full run takes hours; --series core runs only the
rungs of the core.`,
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "parallel", Value: 3, Usage: "run `N` rungs side by side"},
			&cli.DurationFlag{Name: "soon", Value: 10 * time.Second, Usage: "`TIME` to wait for an event that should come within moments"},
		},
		Before: takes(0, "[--parallel N] [--soon TIME]"),
		Action: a.in(a.climb),
	}
}

// A climb is a run of the ladder.
type climb struct {
	*app
	output string // with the tools
	soon   time.Duration
	record string // the file of the recorded rungs
	known  []docs.Rung

	mu    sync.Mutex // guards rungs while several are run
	rungs []docs.Rung
}

func (a *app) climb(ctx context.Context, cmd *cli.Command, w *tree.Workspace) (err error) {
	c := &climb{app: a, output: cmd.String("output"), soon: cmd.Duration("soon"), record: filepath.Join(a.root, a.pages.Ladder)}
	if c.known, err = docs.ReadLadder(c.record); err != nil {
		return err
	}
	for _, name := range docs.Rungs(a.series) {
		rung := docs.Rung{Name: name}
		if i := slices.IndexFunc(c.known, func(g docs.Rung) bool { return g.Name == name }); i >= 0 {
			rung = c.known[i]
		}
		c.rungs = append(c.rungs, rung)
	}
	if err := c.run(ctx, w, cmd.Int("parallel")); err != nil {
		return err
	}
	if err := c.again(ctx, w); err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.stdout, "%d rungs are in %s: run check --update to renew the tables\n", len(c.rungs), short(c.record))
	return err
}

// run builds one rung after the other and runs several side by side. A rung that fails ends no
// other: their results are recorded.
func (c *climb) run(ctx context.Context, w *tree.Workspace, parallel int) error {
	var running errgroup.Group
	running.SetLimit(parallel)
	for i := range c.rungs {
		rung, due, err := c.build(ctx, w, i)
		if err != nil {
			return errors.Join(fmt.Errorf("rung %s: %w", c.rungs[i].Name, err), running.Wait())
		}
		if !due {
			continue
		}
		running.Go(func() (err error) {
			defer c.progress.Step("conformance test with " + rung.Name)()
			if rung.Passed, rung.Failed, err = c.conform(ctx, rung.Name, bin(w, i)); err != nil {
				return fmt.Errorf("rung %s: %w", rung.Name, err)
			}
			return errors.Join(c.keep(i, rung), os.RemoveAll(bin(w, i)))
		})
	}
	return running.Wait()
}

// bin is the folder of the binaries of a rung. A recorded rung has none.
func bin(w *tree.Workspace, i int) string {
	return filepath.Join(w.Out, "ladder", fmt.Sprintf("bin-%02d", i))
}

// build builds a rung, unless one of the same code is recorded.
func (c *climb) build(ctx context.Context, w *tree.Workspace, i int) (rung docs.Rung, due bool, err error) {
	c.mu.Lock()
	rung = c.rungs[i]
	c.mu.Unlock()
	at := w.Below("ladder")
	if i == 0 {
		if at, err = w.Stock(c.product.Module); err != nil {
			return rung, false, err
		}
	} else {
		at.Series = c.series.UpTo(i - 1)
	}
	trees, err := at.Apply(ctx)
	if err != nil {
		return rung, false, err
	}
	code, err := tree.Code(trees)
	if err != nil || rung.State == code {
		return rung, false, err
	}
	rung.State = code
	_, _, err = at.BuildFor(ctx, trees, c.product, c.config.build, tree.Platform{}, bin(w, i))
	return rung, true, err
}

// conform runs the conformance test on the containerd of a folder, in a process of its own, since
// several run side by side. If cases are named, it runs only these. A case that ends in an error,
// such as on a slow machine, is run once more.
func (c *climb) conform(ctx context.Context, name, bin string, cases ...string) (passed, failed []string, err error) {
	folder := filepath.Join(filepath.Dir(bin), "report-"+name)
	self, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	args := []string{"--output", c.output, "conformance", "--bin", bin, "--report-dir", folder, "--soon", c.soon.String()}
	for _, one := range cases {
		args = append(args, "--case", one)
	}
	// It fails if a case does.
	said, ran := exec.CommandContext(ctx, self, args...).CombinedOutput()
	content, err := os.ReadFile(filepath.Join(folder, "report.json"))
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("conformance test:\n%s", said), ran, err)
	}
	r, err := report.Read(bytes.NewReader(content))
	if err != nil {
		return nil, nil, err
	}
	var broken []string
	for _, one := range r.Cases {
		switch one.Verdict {
		case report.Passed:
			passed = append(passed, one.Name)
		case report.Failed:
			failed = append(failed, one.Name)
		case report.Error:
			broken = append(broken, one.Name)
			err = errors.Join(err, fmt.Errorf("%s: %s", one.Name, one.Reason))
		}
	}
	if len(broken) > 0 && len(cases) == 0 {
		var nowPassed, nowFailed []string
		nowPassed, nowFailed, err = c.conform(ctx, name, bin, broken...)
		passed, failed = append(passed, nowPassed...), append(failed, nowFailed...)
	}
	slices.Sort(passed)
	slices.Sort(failed)
	return passed, failed, err
}

// again runs the cases that fail, but passed on the rung before, once more and alone.
func (c *climb) again(ctx context.Context, w *tree.Workspace) error {
	for i := 1; i < len(c.rungs); i++ {
		lost := docs.Turned(c.rungs[i-1].Passed, c.rungs[i].Failed)
		if len(lost) == 0 {
			continue
		}
		c.rungs[i].State = "" // it is built anew
		rung, _, err := c.build(ctx, w, i)
		if err != nil {
			return fmt.Errorf("rung %s: %w", rung.Name, err)
		}
		end := c.progress.Step(fmt.Sprintf("conformance test with %s, once more: %s", rung.Name, strings.Join(lost, ", ")))
		passed, _, err := c.conform(ctx, rung.Name, bin(w, i), lost...)
		end()
		if err != nil {
			return fmt.Errorf("rung %s: %w", rung.Name, err)
		}
		rung.Failed = slices.DeleteFunc(rung.Failed, func(name string) bool { return slices.Contains(passed, name) })
		rung.Passed = slices.Sorted(slices.Values(append(rung.Passed, passed...)))
		if err := errors.Join(c.keep(i, rung), os.RemoveAll(bin(w, i))); err != nil {
			return err
		}
	}
	return nil
}

// keep records a rung, beside those of other series.
func (c *climb) keep(i int, rung docs.Rung) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rungs[i] = rung
	all := slices.DeleteFunc(slices.Clone(c.rungs), func(g docs.Rung) bool { return g.State == "" })
	for _, g := range c.known {
		if !slices.ContainsFunc(c.rungs, func(other docs.Rung) bool { return other.Name == g.Name }) {
			all = append(all, g)
		}
	}
	content, err := json.MarshalIndent(all, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(c.record, append(content, '\n'), 0o644)
}
