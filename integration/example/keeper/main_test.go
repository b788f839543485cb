// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/hookline-nri/hookline/plugin/plugintest"
)

func TestWorst(t *testing.T) {
	plugintest.Worst(t, func(t *testing.T) plugintest.Subject {
		root := t.TempDir()
		return plugintest.Subject{
			Run:  func(ctx context.Context, socket string) error { return run(ctx, socket, root) },
			Held: func() ([]string, error) { return names(filepath.Join(root, "pods")) },
		}
	})
}

func names(folder string) (names []string, err error) {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, err
}
