// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"fmt"
	"syscall"

	containerd "github.com/containerd/containerd/v2/client"
	"golang.org/x/sys/unix"

	"github.com/hookline-nri/hookline/testkit/pause/idle"
	"github.com/hookline-nri/hookline/testkit/proc"
	"github.com/hookline-nri/hookline/testkit/wait"
)

// Settled waits until a started container's program handles its signals. The first process of a pid
// namespace loses signals that it does not handle, so a container that is stopped right after its
// start may take its whole grace period.
func (n *Node) Settled(ctx context.Context, container string) error {
	return n.untilIgnores(ctx, container, idle.Ready)
}

// Resisting waits until a container's program has received SIGTERM and ignores it: its grace period
// is under way. The program must run with -stubborn.
func (n *Node) Resisting(ctx context.Context, container string) error {
	return n.untilIgnores(ctx, container, unix.SIGTERM)
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

// untilIgnores waits until a container's program ignores a signal.
func (n *Node) untilIgnores(ctx context.Context, container string, signal syscall.Signal) error {
	task, err := n.task(ctx, container)
	if err != nil {
		return err
	}
	pid := int(task.Pid())
	return wait.Until(ctx, fmt.Sprintf("the program of container %s to ignore %s", container, signal), func(context.Context) error {
		ignores, err := proc.Ignores(pid, signal)
		if err != nil {
			return fmt.Errorf("%w: %w", wait.ErrPermanent, err)
		}
		if !ignores {
			return fmt.Errorf("process %d does not", pid)
		}
		return nil
	})
}
