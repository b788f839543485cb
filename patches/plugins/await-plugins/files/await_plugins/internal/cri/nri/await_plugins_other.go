// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package nri

import (
	"context"

	sstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
)

// AwaitPlugins has no plugins to wait for on this platform.
func (*API) AwaitPlugins(ctx context.Context, _ *sstore.Sandbox) (context.Context, error) {
	return ctx, nil
}
