// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/hookline-nri/hookline/integration/wait"
	"golang.org/x/sys/unix"
)

// Settled waits until a started container's program catches SIGTERM. To the
// first process of a pid namespace a signal that it does not catch is lost, so
// a container that is stopped as soon as it started may take its whole grace period.
func (n *Node) Settled(ctx context.Context, container string) error {
	c, err := n.client.LoadContainer(ctx, container)
	if err != nil {
		return fmt.Errorf("load container %s: %w", container, err)
	}
	task, err := c.Task(ctx, nil)
	if err != nil {
		return fmt.Errorf("load task of container %s: %w", container, err)
	}
	return wait.Until(ctx, "the program of container "+container, func(context.Context) error {
		caught, err := catches(int(task.Pid()), unix.SIGTERM)
		if err == nil && !caught {
			err = fmt.Errorf("process %d does not catch %s", task.Pid(), unix.SIGTERM)
		}
		return err
	})
}

// catches tells whether a process has a handler for a signal.
func catches(pid int, signal unix.Signal) (bool, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return false, fmt.Errorf("%w: %w", wait.ErrPermanent, err)
	}
	for line := range strings.Lines(string(status)) {
		if mask, ok := strings.CutPrefix(line, "SigCgt:"); ok {
			bits, err := strconv.ParseUint(strings.TrimSpace(mask), 16, 64)
			return bits&(1<<(signal-1)) != 0, err
		}
	}
	return false, fmt.Errorf("%w: status of process %d tells no caught signals", wait.ErrPermanent, pid)
}
