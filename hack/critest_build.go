// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// The folders of the module that pins critest and of the cases that are proposed to it, and the
// file of those in its source.
const (
	critestModule  = "hack/tools/critest"
	proposedFolder = "proposed/pkg/validate"
	proposedFile   = "nri_delivery_linux.go"
)

// buildCritest builds critest with the proposed cases. The go command replaces no file of the
// module cache, so it builds a copy, with the versions that the copy pins.
func (a *app) buildCritest(ctx context.Context, out string) (program string, err error) {
	defer a.progress.Step("build critest")()
	if program, err = filepath.Abs(filepath.Join(out, "critest")); err != nil {
		return "", err
	}
	pins, source := filepath.Join(a.root, critestModule), filepath.Join(filepath.Dir(program), "source")
	cached, err := listed(ctx, pins, "{{.Dir}}", "sigs.k8s.io/cri-tools")
	if err != nil {
		return "", fmt.Errorf("find critest: %w", err)
	}
	if err := copyAnew(cached, source); err != nil {
		return "", fmt.Errorf("copy critest: %w", err)
	}
	// It fails for a file that critest has.
	if err := os.CopyFS(source, os.DirFS(filepath.Join(pins, "proposed"))); err != nil {
		return "", fmt.Errorf("add the proposed cases: %w", err)
	}
	if _, err := prints(ctx, source, "go", "test", "-c", "-trimpath", "-ldflags=-s -w", "-o", program, "./cmd/critest"); err != nil {
		return "", fmt.Errorf("build critest: %w", err)
	}
	return program, nil
}
