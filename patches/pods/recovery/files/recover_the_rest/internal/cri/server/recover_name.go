// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"

	"github.com/containerd/containerd/v2/internal/cri/recovery"
	sandboxstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
)

// recoverSandboxName reserves the name of a recovered sandbox. Another sandbox may have it
// already, if a containerd that did not reserve it has created the pod again.
func (c *criService) recoverSandboxName(ctx context.Context, sb *sandboxstore.Sandbox) {
	if err := c.sandboxNameIndex.Reserve(sb.Name, sb.ID); err != nil {
		recovery.Skip(ctx, recovery.SandboxName, sb.ID, err)
	}
}
