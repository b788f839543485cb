// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"fmt"

	"github.com/containerd/errdefs"

	containerd "github.com/containerd/containerd/v2/client"
	sandboxstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
)

// exitWatch watches the process of a sandbox while the sandbox is being created.
type exitWatch struct {
	exit  <-chan containerd.ExitStatus
	seen  chan containerd.ExitStatus // has the exit, if it happened before the end of the watch
	quit  context.CancelFunc
	ended chan struct{}
}

// failOnExit makes a creation fail when the process of its sandbox exits, until the watch is
// ended. The caller must end it.
func failOnExit(creation *sandboxstore.Creation, exit <-chan containerd.ExitStatus) *exitWatch {
	ctx, quit := context.WithCancel(context.Background())
	w := &exitWatch{exit: exit, seen: make(chan containerd.ExitStatus, 1), quit: quit, ended: make(chan struct{})}
	go func() {
		defer close(w.ended)
		select {
		case status := <-exit:
			w.seen <- status
			creation.Fail(&sandboxstore.Interruption{By: "exited", Err: exitReason(status)})
		case <-ctx.Done():
		}
	}()
	return w
}

// end ends the watch, and returns the channel that has the exit from then on.
func (w *exitWatch) end() <-chan containerd.ExitStatus {
	w.quit()
	<-w.ended
	if len(w.seen) > 0 {
		return w.seen
	}
	return w.exit
}

func exitReason(status containerd.ExitStatus) error {
	if err := status.Error(); err != nil {
		return fmt.Errorf("sandbox was lost before it was ready: %v: %w", err, errdefs.ErrUnavailable)
	}
	return fmt.Errorf("sandbox process exited with status %d before it was ready: %w", status.ExitCode(), errdefs.ErrUnavailable)
}

// becomeReady puts a sandbox that all plugins have approved into the store. It cannot fail.
func (c *criService) becomeReady(sandbox sandboxstore.Sandbox) {
	_ = sandbox.Status.Update(ready) // it only returns the error of ready
	c.sandboxStore.Commit(sandbox)
}

func ready(s sandboxstore.Status) (sandboxstore.Status, error) {
	s.State = sandboxstore.StateReady
	return s, nil
}
