// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// The module of nerdctl, and a file of its program that only its tests need. It imports a
// module that is not published.
const (
	nerdctlModule = "github.com/containerd/nerdctl/v2"
	onlyForTests  = "cmd/nerdctl/helpers/testing_linux.go"
)

// buildClients builds nerdctl and crictl, as hack/tools/clients pins them.
func (a *app) buildClients(ctx context.Context, r clientRun) error {
	defer a.progress.Step("build nerdctl and crictl")()
	pins := filepath.Join(a.root, "hack", "tools", "clients")
	source, err := listed(ctx, pins, "{{.Dir}}", nerdctlModule)
	if err != nil {
		return err
	}
	copied := filepath.Join(r.out, "nerdctl")
	if err := copyWithout(source, copied, onlyForTests); err != nil {
		return fmt.Errorf("copy nerdctl's module: %w", err)
	}
	modfile, err := copyPins(pins, r.out)
	if err != nil {
		return err
	}
	if err := goIn(ctx, pins, "mod", "edit", "-replace="+nerdctlModule+"="+copied, modfile); err != nil {
		return err
	}
	if err := os.MkdirAll(r.programs, 0o755); err != nil {
		return err
	}
	return goIn(ctx, pins, "build", "-modfile="+modfile, "-trimpath", "-buildvcs=false", "-o", r.programs+string(filepath.Separator), "tool")
}

// copyWithout copies a folder, anew, without a file of it.
func copyWithout(from, to, file string) error {
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		return err
	}
	return os.Remove(filepath.Join(to, file))
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
