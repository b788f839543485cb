// SPDX-License-Identifier: Apache-2.0

package server

import (
	"fmt"

	"github.com/containerd/errdefs"

	containerd "github.com/containerd/containerd/v2/client"
	sandboxstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
)

// failOnExit makes a creation fail when the process of its sandbox exits before
// the creation is sealed, and passes the exit on to the exit monitor. Its goroutine
// ends with the process.
func failOnExit(creation *sandboxstore.Creation, exit <-chan containerd.ExitStatus) <-chan containerd.ExitStatus {
	passed := make(chan containerd.ExitStatus, 1)
	go func() {
		defer close(passed)
		status, ok := <-exit
		if !ok {
			return
		}
		reason := fmt.Errorf("sandbox process exited with status %d before it was ready: %w", status.ExitCode(), errdefs.ErrUnavailable)
		if err := status.Error(); err != nil {
			reason = fmt.Errorf("sandbox was lost before it was ready: %v: %w", err, errdefs.ErrUnavailable)
		}
		creation.Fail(&sandboxstore.Interruption{By: "exited", Err: reason})
		passed <- status
	}()
	return passed
}

// becomeReady puts a sandbox that all plugins agreed to into the store. It cannot
// fail.
func (c *criService) becomeReady(sandbox sandboxstore.Sandbox) {
	_ = sandbox.Status.Update(ready) // it only returns the error of ready
	c.sandboxStore.Commit(sandbox)
}

func ready(s sandboxstore.Status) (sandboxstore.Status, error) {
	s.State = sandboxstore.StateReady
	return s, nil
}
