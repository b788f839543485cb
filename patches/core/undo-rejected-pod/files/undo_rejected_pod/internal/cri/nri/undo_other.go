// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package nri

import (
	"context"

	sstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
)

// UndoRunPodSandbox has no plugins to tell on this platform.
func (*API) UndoRunPodSandbox(context.Context, *sstore.Sandbox) error { return nil }
