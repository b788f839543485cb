// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// runcModule pins the runc of the other tests, which the nodes use, too: Debian's is too old for pods
// with a user namespace.
const runcModule = "hack/tools"

func (m Maker) runc() string { return filepath.Join(m.Out, "bin", "runc") }

// buildRunc builds runc statically with seccomp, which the kubelet needs, and with the library of the
// nodes' root file system.
func (m Maker) buildRunc(ctx context.Context) error {
	module := filepath.Join(m.Root, runcModule)
	sum, err := sumOf(filepath.Join(module, "go.mod"), filepath.Join(module, "go.sum"))
	if err != nil {
		return err
	}
	return m.once("runc", sum+" "+m.baseOf(), "build runc", m.runc(), func() error {
		if err := needs("runc with seccomp", "gcc=gcc"); err != nil {
			return err
		}
		library := filepath.Join(m.Out, "libseccomp")
		if err := m.unpackSeccomp(ctx, library); err != nil {
			return err
		}
		cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-tags", "seccomp netgo osusergo",
			"-ldflags", `-s -w -extldflags "-static -lseccomp"`, "-o", m.runc(), "github.com/opencontainers/runc")
		cmd.Dir = module
		cmd.Env = append(os.Environ(), "CGO_ENABLED=1", "GOFLAGS=-buildvcs=false", "CGO_CFLAGS=-I"+library, "CGO_LDFLAGS=-L"+library,
			"PKG_CONFIG=true") // pkg-config would find the host's library
		_, err := output(cmd)
		return err
	})
}

// unpackSeccomp copies headers and library of seccomp from the base.
func (m Maker) unpackSeccomp(ctx context.Context, to string) error {
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	_, err := output(exec.CommandContext(ctx, "tar", "-C", to, "--transform=s,.*/,,", "--wildcards",
		"-xf", m.base(), "./usr/include/seccomp*.h", "./usr/lib/*/libseccomp.a"))
	if err != nil {
		return fmt.Errorf("headers and library of seccomp: %w", err)
	}
	return nil
}
