// SPDX-License-Identifier: Apache-2.0

package others

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/hookline-nri/hookline/testkit/wait"
)

// pod is a pod with a container.
type pod struct{ name, id, container string }

// config is the configuration of a pod, which asks the plugin for what it gives if asks is set.
func (l *life) config(ctx context.Context, name string, asks bool) (*runtime.PodSandboxConfig, error) {
	config := l.n.CRI().Pod(name)
	if !asks {
		return config, nil
	}
	if l.plugin.asks != nil {
		config.Annotations = l.plugin.asks(name)
	}
	if l.plugin.grant != nil {
		if err := l.plugin.grant(ctx, l, name); err != nil {
			return nil, fmt.Errorf("make the plugin know of pod %s: %w", name, err)
		}
	}
	return config, nil
}

// run runs a pod. Nothing is left of one that fails.
func (l *life) run(ctx context.Context, name string, asks bool) (*pod, error) {
	config, err := l.config(ctx, name, asks)
	if err != nil {
		return nil, err
	}
	return l.create(ctx, config)
}

func (l *life) create(ctx context.Context, config *runtime.PodSandboxConfig) (*pod, error) {
	id, err := l.n.CRI().RunPod(ctx, config)
	if err != nil {
		return nil, err
	}
	p := &pod{name: config.GetMetadata().GetName(), id: id}
	if p.container, err = l.startContainer(ctx, p.id, config); err != nil {
		return nil, errors.Join(err, l.end(ctx, p))
	}
	return p, nil
}

func (l *life) startContainer(ctx context.Context, pod string, config *runtime.PodSandboxConfig) (string, error) {
	cri := l.n.CRI()
	id, err := cri.Create(ctx, pod, config, cri.Container("main"))
	if err != nil {
		return "", err
	}
	if err := cri.Start(ctx, id); err != nil {
		return "", err
	}
	return id, l.n.Settled(ctx, id)
}

// end stops and removes a pod.
func (l *life) end(ctx context.Context, p *pod) error {
	if p == nil {
		return errNoPod
	}
	return errors.Join(l.n.CRI().StopPod(ctx, p.id), l.n.CRI().RemovePod(ctx, p.id))
}

var errNoPod = errors.New("the pod could not be run")

// has returns nil if the container of a pod has what the plugin gives.
func (l *life) has(ctx context.Context, p *pod) error {
	if p == nil {
		return errNoPod
	}
	pid, err := l.pid(ctx, p.container)
	if err != nil {
		return err
	}
	return l.plugin.has(l.n, p.name, pid)
}

// shares is the value that containers are updated to.
const shares = 512

// update updates the container of a pod, and checks the result.
func (l *life) update(ctx context.Context, p *pod) error {
	if p == nil {
		return errNoPod
	}
	_, err := l.n.CRI().Runtime.UpdateContainerResources(ctx, &runtime.UpdateContainerResourcesRequest{
		ContainerId: p.container, Linux: &runtime.LinuxContainerResources{CpuShares: shares},
	})
	if err != nil {
		return fmt.Errorf("update container %s: %w", p.container, err)
	}
	r, err := l.n.CRI().Runtime.ContainerStatus(ctx, &runtime.ContainerStatusRequest{ContainerId: p.container})
	if err != nil {
		return fmt.Errorf("status of container %s: %w", p.container, err)
	}
	if got := r.GetStatus().GetResources().GetLinux().GetCpuShares(); got != shares {
		return fmt.Errorf("container %s has %d CPU shares, want %d", p.container, got, shares)
	}
	return nil
}

// pid returns the PID of the program of a container, or of a pod's sandbox.
func (l *life) pid(ctx context.Context, id string) (int, error) {
	c, err := l.n.Containerd().LoadContainer(ctx, id)
	if err != nil {
		return 0, fmt.Errorf("load container %s: %w", id, err)
	}
	task, err := c.Task(ctx, nil)
	if err != nil {
		return 0, fmt.Errorf("load task of container %s: %w", id, err)
	}
	return int(task.Pid()), nil
}

// pids returns the PIDs of a pod's container and of its sandbox.
func (l *life) pids(ctx context.Context, p *pod) (pids []int, err error) {
	if p == nil {
		return nil, errNoPod
	}
	for _, id := range []string{p.container, p.id} {
		pid, err := l.pid(ctx, id)
		if err != nil {
			return nil, err
		}
		pids = append(pids, pid)
	}
	return pids, nil
}

// die kills processes of a pod, and returns when they have ended.
func die(ctx context.Context, pids []int) error {
	for _, pid := range pids {
		if err := unix.Kill(pid, unix.SIGKILL); err != nil {
			return fmt.Errorf("kill process %d of a pod: %w", pid, err)
		}
	}
	return wait.Until(ctx, "the processes of a pod to end", func(context.Context) error {
		for _, pid := range pids {
			if err := unix.Kill(pid, 0); !errors.Is(err, unix.ESRCH) {
				return fmt.Errorf("process %d still runs", pid)
			}
		}
		return nil
	})
}
