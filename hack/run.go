// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/hookline-nri/hookline/internal/progress"
	"github.com/hookline-nri/hookline/internal/tree"
)

// app is a run of the CLI.
type app struct {
	config
	progress *progress.Printer
}

func run(ctx context.Context, cfg config, args []string) error {
	a := &app{cfg, progress.New(cfg.stderr)}
	root := &cli.Command{
		Name:  "hack",
		Usage: "apply, build, check and export the patches of containerd and NRI",
		Flags: []cli.Flag{
			&cli.StringFlag{
				Name:        "output",
				Usage:       "folder for results",
				Value:       filepath.Join(a.root, "_output"),
				DefaultText: "_output in the repository",
			},
			&cli.StringFlag{
				Name:        "target",
				Usage:       "`VERSION` of upstream, one of those in hack/targets",
				DefaultText: "that of go.mod",
			},
			&cli.StringFlag{Name: "series", Usage: "`SERIES` of patches: core, the small ones that need no others, or full", Value: full},
		},
		Before: a.chooseSeries,
		Commands: []*cli.Command{
			a.list(), a.apply(), a.build(), a.diff(), a.check(), a.test(), a.export(), a.bump(), a.release(), a.installer(),
			a.tools(), a.demo(), a.conformance(), a.ladder(), a.critest(), a.upstreamSuite(), a.peers(), a.plugins(), a.clients(), a.bench(), a.kindImage(), a.kind(), a.e2e(), a.nodeConformance(), a.lint(), a.diagrams(), a.alerts(), a.upstreamChecks(),
		},
		Action: func(_ context.Context, cmd *cli.Command) error {
			if name := cmd.Args().First(); name != "" {
				return fmt.Errorf("unknown command %q: see --help", name)
			}
			return cli.ShowRootCommandHelp(cmd)
		},
		HideHelpCommand: true,
		Writer:          a.stdout,
		ErrWriter:       a.stderr,
		// The caller prints the error, once, and chooses the exit code.
		ExitErrHandler: func(context.Context, *cli.Command, error) {},
	}
	usage := func(_ context.Context, cmd *cli.Command, err error, _ bool) error {
		return fmt.Errorf("%w: see %s --help", err, cmd.Name)
	}
	for _, cmd := range append(root.Commands, root) {
		cmd.OnUsageError = usage
		cmd.HideHelpCommand = true
	}
	return root.Run(ctx, append([]string{root.Name}, args...))
}

// in opens the workspace for a command, and closes it after.
func (a *app) in(do func(context.Context, *cli.Command, *tree.Workspace) error) cli.ActionFunc {
	return func(ctx context.Context, cmd *cli.Command) (err error) {
		w, err := a.open(cmd)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, w.Close()) }()
		return do(ctx, cmd, w)
	}
}

// open opens the workspace of the target that a command is about.
func (a *app) open(cmd *cli.Command) (*tree.Workspace, error) {
	pins, err := a.pins(cmd.String("target"))
	if err != nil {
		return nil, err
	}
	w, err := tree.Open(a.series, a.root, built(cmd), cmd.Name, a.progress.Step)
	if err != nil {
		return nil, err
	}
	w.Pins = pins
	return w.Below(below(cmd)), nil
}

// applied is in with the patches applied.
func (a *app) applied(do func(context.Context, *cli.Command, *tree.Workspace, []tree.Tree) error) cli.ActionFunc {
	return a.in(func(ctx context.Context, cmd *cli.Command, w *tree.Workspace) error {
		trees, err := w.Apply(ctx)
		if err != nil {
			return err
		}
		return do(ctx, cmd, w, trees)
	})
}

// takes checks the number of arguments first.
func takes(n int, usage string) cli.BeforeFunc {
	return func(ctx context.Context, cmd *cli.Command) (context.Context, error) {
		if cmd.NArg() != n {
			return ctx, fmt.Errorf("usage: %s", strings.TrimSpace(cmd.Name+" "+usage))
		}
		return ctx, nil
	}
}

// short returns a path relative to the working directory.
func short(path string) string {
	if dir, err := os.Getwd(); err == nil {
		if rel, err := filepath.Rel(dir, path); err == nil && !strings.HasPrefix(rel, "..") {
			return rel
		}
	}
	return path
}
