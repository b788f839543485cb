// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	bootapi "github.com/containerd/containerd/api/runtime/bootstrap/v1"
	"github.com/containerd/containerd/v2/defaults"
	"github.com/containerd/containerd/v2/pkg/shim"
	"golang.org/x/sys/unix"

	"github.com/hookline-nri/hookline/internal/shim/sandbox"
)

// commands are those with which containerd starts a shim and cleans up after it. Their working
// directory is the bundle.
type commands struct{ shim.Shim }

// The specification in the bundle of a sandbox, which has none. runc's part of the shim needs one.
const (
	specification = "config.json"
	ofSandbox     = "{}"
)

// Start starts the shim of a sandbox.
func (c commands) Start(ctx context.Context, params *bootapi.BootstrapParams) (*bootapi.BootstrapResult, error) {
	if _, err := os.Stat(specification); errors.Is(err, fs.ErrNotExist) {
		if err := os.WriteFile(specification, []byte(ofSandbox), 0o600); err != nil {
			return nil, err
		}
	}
	return c.Shim.Start(ctx, params)
}

// Stop cleans up after a sandbox or a container whose shim has ended.
func (c commands) Stop(ctx context.Context, id string) (shim.StopStatus, error) {
	if spec, err := os.ReadFile(specification); err != nil || string(spec) != ofSandbox {
		return c.Shim.Stop(ctx, id)
	}
	err := errors.Join(sandbox.Remove("."), removeSockets(ctx, id))
	return shim.StopStatus{ExitStatus: 128 + int(unix.SIGKILL), ExitedAt: time.Now()}, err
}

// removeSockets removes the sockets of a shim that did not remove them itself. Their names follow
// from the folder of sockets, to which the shim has left a link, and from containerd's address.
func removeSockets(ctx context.Context, id string) error {
	folder, err := os.Readlink("s")
	if errors.Is(err, fs.ErrNotExist) {
		folder, err = filepath.Join(defaults.DefaultStateDir, "s"), nil
	}
	if err != nil {
		return fmt.Errorf("read the folder of sockets: %w", err)
	}
	containerd := flag.Lookup("address").Value.String()
	for _, debug := range []bool{false, true} {
		address, err := shim.CreateSocketAddress(ctx, folder, containerd, id, debug)
		if err != nil {
			return err
		}
		if err := shim.RemoveSocket(address); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
