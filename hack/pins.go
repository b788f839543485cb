// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Builds of other projects' modules, which the modules below hack/tools pin.

// listed returns the output of go list -m for a module that another one requires.
func listed(ctx context.Context, dir, format, module string) (string, error) {
	if err := goIn(ctx, dir, "mod", "download", module); err != nil {
		return "", err
	}
	out, err := prints(ctx, dir, "go", "list", "-m", "-f", format, module)
	return strings.TrimSpace(out), err
}

// goIn runs the go command with cgo in a folder.
func goIn(ctx context.Context, dir string, args ...string) error {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=1", "GOFLAGS=", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

// copyPins copies go.mod and go.sum of a module to where a build may change them.
func copyPins(from, to string) (modfile string, err error) {
	for _, name := range []string{"go.mod", "go.sum"} {
		content, err := os.ReadFile(filepath.Join(from, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(to, name), content, 0o644)
		}
		if err != nil {
			return "", err
		}
	}
	return filepath.Join(to, "go.mod"), nil
}

// copyAnew copies the source of a module into a folder where it may be changed, in place of the files there.
func copyAnew(source, to string) error {
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	return os.CopyFS(to, os.DirFS(source))
}
