// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	containerd "github.com/containerd/containerd/v2/client"
	"golang.org/x/sys/unix"

	"github.com/hookline-nri/hookline/integration/wait"
)

// Settled waits until a started container's program catches SIGTERM. To the
// first process of a pid namespace a signal that it does not catch is lost, so
// a container that is stopped as soon as it started may take its whole grace period.
func (n *Node) Settled(ctx context.Context, container string) error {
	return n.untilSignal(ctx, container, "catch", "SigCgt:", unix.SIGTERM)
}

// Resisting waits until a container's program has got SIGTERM and ignores it: its
// grace period is under way. The program must run with -stubborn.
func (n *Node) Resisting(ctx context.Context, container string) error {
	return n.untilSignal(ctx, container, "ignore", "SigIgn:", unix.SIGTERM)
}

// Signal sends a signal to a container's program, not through CRI.
func (n *Node) Signal(ctx context.Context, container string, signal syscall.Signal) error {
	task, err := n.task(ctx, container)
	if err != nil {
		return err
	}
	if err := task.Kill(ctx, signal); err != nil {
		return fmt.Errorf("send %s to container %s: %w", signal, container, err)
	}
	return nil
}

func (n *Node) task(ctx context.Context, container string) (containerd.Task, error) {
	c, err := n.client.LoadContainer(ctx, container)
	if err != nil {
		return nil, fmt.Errorf("load container %s: %w", container, err)
	}
	task, err := c.Task(ctx, nil)
	if err != nil {
		return nil, fmt.Errorf("load task of container %s: %w", container, err)
	}
	return task, nil
}

// untilSignal waits until a signal is in a set of signals of a container's
// program, named as in proc_pid_status(5).
func (n *Node) untilSignal(ctx context.Context, container, does, set string, signal syscall.Signal) error {
	task, err := n.task(ctx, container)
	if err != nil {
		return err
	}
	pid := int(task.Pid())
	what := fmt.Sprintf("the program of container %s to %s %s", container, does, signal)
	return wait.Until(ctx, what, func(context.Context) error {
		has, err := inSet(pid, set, signal)
		if err == nil && !has {
			err = fmt.Errorf("process %d does not", pid)
		}
		return err
	})
}

// inSet tells whether a signal is in a set of signals of a process.
func inSet(pid int, set string, signal syscall.Signal) (bool, error) {
	mask, err := statusOf(pid, set)
	if err != nil {
		return false, fmt.Errorf("%w: %w", wait.ErrPermanent, err)
	}
	bits, err := strconv.ParseUint(mask, 16, 64)
	return bits&(1<<(signal-1)) != 0, err
}

// statusOf is a line of a process's status without its name, which ends with a
// colon, as in proc_pid_status(5).
func statusOf(pid int, name string) (string, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, name); ok {
			return strings.TrimSpace(value), nil
		}
	}
	return "", fmt.Errorf("status of process %d has no line %s", pid, name)
}
