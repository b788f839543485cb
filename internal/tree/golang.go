// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"context"
	"io"
	"strings"
)

// golang runs the go command with what changes its results fixed: flags and
// workspace of the user, cgo (built commands are static, and no C compiler is needed).
func (w *Workspace) golang(ctx context.Context, dir string, args ...string) (string, error) {
	return w.golangTo(ctx, dir, nil, args...)
}

func (w *Workspace) golangTo(ctx context.Context, dir string, stdout io.Writer, args ...string) (string, error) {
	return command{
		dir:    dir,
		stdout: stdout,
		args:   append([]string{"go"}, args...),
		env:    w.goEnviron(),
	}.run(ctx)
}

func (w *Workspace) goEnviron() []string {
	return environ([]string{"GOFLAGS=", "GOWORK=", "GO111MODULE=", "CGO_ENABLED=", "GOTMPDIR=", "PWD="},
		"GOFLAGS=-mod=readonly", "GOWORK=off", "GO111MODULE=on", "CGO_ENABLED=0", "GOTMPDIR="+w.tmp)
}

// toolchain names all about the go command that decides what it builds.
func (w *Workspace) toolchain(ctx context.Context, dir string) (string, error) {
	out, err := w.golang(ctx, dir, "env", "GOVERSION", "GOOS", "GOARCH", "GOAMD64", "GOARM64", "GOEXPERIMENT", "GOFIPS140")
	return strings.Join(strings.Fields(out), " "), err
}

// tagsFlag is the go command's flag for build tags; -trimpath comes with it so
// that all trees, wherever they are, share the build cache.
func tagsFlag(tags []string) []string {
	if len(tags) == 0 {
		return []string{"-trimpath"}
	}
	return []string{"-trimpath", "-tags=" + strings.Join(tags, ",")}
}
