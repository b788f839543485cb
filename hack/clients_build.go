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
	if err := copyAnew(source, copied); err != nil {
		return fmt.Errorf("copy nerdctl's module: %w", err)
	}
	if err := os.Remove(filepath.Join(copied, onlyForTests)); err != nil {
		return err
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
