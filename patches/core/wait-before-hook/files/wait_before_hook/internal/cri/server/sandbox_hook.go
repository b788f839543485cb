// SPDX-License-Identifier: Apache-2.0

package server

import (
	"fmt"

	"github.com/containerd/errdefs"

	containerd "github.com/containerd/containerd/v2/client"
)

// exitedInHook returns an error if the sandbox has ended during its NRI hook.
func exitedInHook(exit <-chan containerd.ExitStatus) error {
	select {
	case status := <-exit:
		if err := status.Error(); err != nil {
			return fmt.Errorf("sandbox was lost: %v: %w", err, errdefs.ErrUnavailable)
		}
		return fmt.Errorf("sandbox process exited with status %d: %w", status.ExitCode(), errdefs.ErrUnavailable)
	default:
		return nil
	}
}
