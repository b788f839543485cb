// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/urfave/cli/v3"
)

func (a *app) tools() *cli.Command {
	return &cli.Command{
		Name:      "tools",
		Usage:     "build runc and the CNI plugins for tests and demo",
		UsageText: "go run ./hack tools",
		Description: `Builds the programs that hack/tools/go.mod pins, from their modules, into tools/bin of
the output folder. It needs a C compiler, for runc. It installs nothing on the host.`,
		Before: takes(0, ""),
		Action: func(ctx context.Context, cmd *cli.Command) error {
			if _, err := exec.LookPath("gcc"); err != nil {
				return errors.New("no gcc in PATH: runc is built with cgo, install gcc and the headers of libc")
			}
			return a.goTool(ctx, "build runc and CNI plugins", filepath.Join("hack", "tools"), cmd.String("output"))
		},
	}
}

// goTool builds the tools of a module below the repository. The go command does not rebuild tools
// that are up to date.
func (a *app) goTool(ctx context.Context, what, module, output string, flags ...string) error {
	bin := filepath.Join(output, "tools", "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	args := append([]string{"-o", bin + string(filepath.Separator)}, flags...)
	return a.goBuild(ctx, what, module, []string{"CGO_ENABLED=1"}, append(args, "tool")...)
}

// goBuild runs go build in a module below the repository, with additions to the environment.
func (a *app) goBuild(ctx context.Context, what, module string, env []string, args ...string) error {
	defer a.progress.Step(what)()
	build := exec.CommandContext(ctx, "go", append([]string{"build", "-trimpath"}, args...)...)
	build.Dir = filepath.Join(a.root, module)
	build.Env = append(os.Environ(), env...)
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", what, err, out)
	}
	return nil
}
