// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/hookline-nri/hookline/hack/kind"
)

func (a *app) e2e() *cli.Command {
	return &cli.Command{
		Name:      "e2e",
		Usage:     "run the end-to-end tests on a cluster",
		UsageText: "go run ./hack e2e [--if-there] [--base IMAGE] [--network NETWORK] [-- FLAGS OF GO TEST]",
		Description: `Makes a cluster as kind does, puts the images of the tests on it, and runs the tests of
integration/cluster. A cluster that existed before stays. One that was made for the
tests is removed, even if they fail.

Run build, build --stock and tools before. To run the tests on a cluster of your own,
run go test in integration/cluster: go doc there says how.`,
		Flags: []cli.Flag{
			baseFlag(),
			networkFlag(),
			&cli.BoolFlag{Name: "if-there", Usage: "run only on an existing cluster of kind; without one, say so and do nothing"},
		},
		Action: func(ctx context.Context, cmd *cli.Command) error {
			m, err := a.maker(cmd)
			if err != nil {
				return err
			}
			return a.endToEnd(ctx, m, cmd.String("base"), cmd.Bool("if-there"), cmd.Args().Slice())
		},
	}
}

// endToEnd runs the tests on the existing cluster, or on one of their own.
func (a *app) endToEnd(ctx context.Context, m kind.Maker, base string, ifThere bool, flags []string) (err error) {
	if e, ok := m.Engine(ctx); !ok || !m.Exists(ctx, e) {
		if ifThere {
			_, err := fmt.Fprintln(a.stdout, "no end-to-end tests: no cluster exists (make kind)")
			return err
		}
		defer func() { err = errors.Join(err, m.Remove(context.WithoutCancel(ctx))) }()
	}
	e, err := a.cluster(ctx, m, base)
	if err != nil {
		return err
	}
	if err := m.Prepare(ctx, e); err != nil {
		return err
	}
	// One package at a time, so that -v shows each line as it comes. Its tests mostly wait.
	args := []string{"test", "-trimpath", "-count=1", "-p=1", "-parallel=8", "-timeout=90m"}
	if enter := e.Enter(); len(enter) > 0 {
		args = append(args, "-exec="+strings.Join(enter, " "))
	}
	tests := exec.CommandContext(ctx, "go", append(append(args, flags...), "./...")...)
	tests.Dir = filepath.Join(m.Root, "integration", "cluster")
	tests.Env = append(os.Environ(), "CGO_ENABLED=0", "HOOKLINE_KUBECONFIG="+m.Kubeconfig())
	tests.Stdout, tests.Stderr = a.stdout, a.stderr
	if err := tests.Run(); err != nil {
		return fmt.Errorf("end-to-end tests: %w", err)
	}
	return nil
}
