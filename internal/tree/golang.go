// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"context"
	"io"
	"strings"
)

// golang runs the go command without the user's flags and workspace, which would change its
// results, and without cgo, which needs a C compiler.
func (w *Workspace) golang(ctx context.Context, dir string, args ...string) (string, error) {
	return w.golangWith(ctx, dir, nil, args...)
}

// golangWith is golang with further environment variables.
func (w *Workspace) golangWith(ctx context.Context, dir string, env []string, args ...string) (string, error) {
	return w.goCommand(dir, env, args).run(ctx)
}

// golangTo is golangWith, and writes the output to stdout.
func (w *Workspace) golangTo(ctx context.Context, dir string, env []string, stdout io.Writer, args ...string) (string, error) {
	c := w.goCommand(dir, env, args)
	c.stdout = stdout
	return c.run(ctx)
}

func (w *Workspace) goCommand(dir string, env, args []string) command {
	return command{dir: dir, env: append(w.goEnviron(), env...), args: append([]string{"go"}, args...)}
}

func (w *Workspace) goEnviron() []string {
	env := environ([]string{"GOFLAGS=", "GOWORK=", "GO111MODULE=", "CGO_ENABLED=", "GOTMPDIR=", "PWD="},
		"GOFLAGS=-mod=readonly", "GOWORK=off", "GO111MODULE=on", "CGO_ENABLED=0", "GOTMPDIR="+w.tmp)
	if w.BuildCache != "" {
		env = append(env, "GOCACHE="+w.BuildCache)
	}
	return env
}

// toolchain returns the settings of the go command that affect its builds, by their names in go
// env, and the further ones given. It prints in a fixed order.
func (w *Workspace) toolchain(ctx context.Context, dir string, further ...string) (map[string]string, error) {
	return w.toolchainWith(ctx, dir, nil, further...)
}

// toolchainWith is toolchain with further environment variables.
func (w *Workspace) toolchainWith(ctx context.Context, dir string, environment []string, further ...string) (map[string]string, error) {
	names := append([]string{"GOVERSION", "GOOS", "GOARCH", "GOAMD64", "GOARM64", "GOEXPERIMENT", "GOFIPS140"}, further...)
	out, err := w.golangWith(ctx, dir, environment, append([]string{"env"}, names...)...)
	if err != nil {
		return nil, err
	}
	values := map[string]string{}
	for i, value := range strings.Split(strings.TrimSuffix(out, "\n"), "\n") {
		values[names[i]] = value
	}
	return values, nil
}

// tagsFlag returns the go command's flag for build tags, and -trimpath, so that all trees share
// the build cache, in any folder.
func tagsFlag(tags []string) []string {
	if len(tags) == 0 {
		return []string{"-trimpath"}
	}
	return []string{"-trimpath", "-tags=" + strings.Join(tags, ",")}
}
