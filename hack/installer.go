// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"

	"github.com/urfave/cli/v3"
)

func (a *app) installer() *cli.Command {
	return &cli.Command{
		Name:      "installer",
		Usage:     "build hookline-install, which puts a build or a release on a node",
		UsageText: "go run ./hack installer",
		Description: `Builds the static program of cmd/hookline-install into tools/bin of the output folder. A
release has it for each architecture.`,
		Before: takes(0, ""),
		Action: func(ctx context.Context, cmd *cli.Command) error {
			_, err := a.buildInstaller(ctx, runtime.GOARCH, "devel", filepath.Join(cmd.String("output"), "tools", "bin"), "")
			return err
		},
	}
}

// buildInstaller builds the program that puts a release on a node into a folder, and returns its
// path. cache is the build cache; if it is empty, the go command's.
func (a *app) buildInstaller(ctx context.Context, arch, version, dir, cache string) (string, error) {
	program := filepath.Join(dir, filepath.Base(a.releaser.installer))
	env := []string{"CGO_ENABLED=0", "GOOS=linux", "GOARCH=" + arch, "GOFLAGS=", "GOWORK=off"}
	if cache != "" {
		env = append(env, "GOCACHE="+cache)
	}
	what := fmt.Sprintf("build %s for linux/%s", filepath.Base(program), arch)
	return program, a.goBuild(ctx, what, a.releaser.installer, env, "-buildvcs=false", "-mod=readonly",
		"-ldflags=-s -w -buildid= -X main.version="+version, "-o", program, ".")
}
