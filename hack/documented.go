// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/hookline-nri/hookline/hack/docs"
	"github.com/hookline-nri/hookline/internal/tree"
)

// documented returns the sources of the tables in the documentation.
func (a *app) documented(ctx context.Context, w *tree.Workspace, trees []tree.Tree, sizes map[string]tree.Size) docs.Repository {
	r := docs.Repository{Root: a.root, Series: a.series, Threads: a.threads, Sizes: map[string]docs.Size{}, Defaults: func() ([]byte, error) {
		return a.defaultConfig(ctx, w, trees)
	}}
	for _, g := range a.series.Groups {
		s := tree.SizeOf(g, trees, sizes)
		r.Sizes[g.Name()] = docs.Size{Files: s.Files, Code: s.Code, TestCode: s.Tests, Tests: s.Cases}
	}
	for _, t := range trees {
		r.Modules = append(r.Modules, docs.Module{Name: t.Name, Base: os.DirFS(t.Dir), Files: t.Files()})
	}
	return r
}

// defaultConfig asks the built product, since some defaults are computed.
func (a *app) defaultConfig(ctx context.Context, w *tree.Workspace, trees []tree.Tree) ([]byte, error) {
	if _, _, err := w.Build(ctx, trees, a.product, a.config.build); err != nil {
		return nil, err
	}
	args := a.defaults
	out, err := exec.CommandContext(ctx, filepath.Join(w.Out, "bin", args[0]), args[1:]...).Output()
	if err != nil {
		return nil, fmt.Errorf("%v: %w", args, err)
	}
	return out, nil
}
