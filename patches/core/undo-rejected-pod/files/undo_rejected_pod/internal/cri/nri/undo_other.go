// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package nri

import (
	"context"

	sstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
)

// UndoRunPodSandbox does nothing: this platform has no NRI plugins.
func (*API) UndoRunPodSandbox(context.Context, *sstore.Sandbox) error { return nil }
