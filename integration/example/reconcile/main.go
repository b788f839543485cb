// SPDX-License-Identifier: Apache-2.0

// Command reconcile is an example NRI plugin. It keeps something for each pod, here a file.
// Whatever happens to the plugin or the runtime, it keeps files of existing pods and no others.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/stub"

	"github.com/hookline-nri/hookline/podstate"
)

func main() {
	socket := flag.String("socket", api.DefaultSocketPath, "NRI socket of the runtime")
	index := flag.String("index", "50", "position of the plugin among others, 00 to 99")
	folder := flag.String("folder", "", "folder in which a file is kept for each pod")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	if err := run(ctx, *socket, *index, *folder); err != nil {
		fmt.Fprintln(os.Stderr, "reconcile:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, socket, index, folder string) error {
	if folder == "" {
		return errors.New("no folder given: use -folder")
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("create the folder for pods: %w", err)
	}
	s, err := stub.New(&plugin{folder: folder}, stub.WithSocketPath(socket), stub.WithPluginName("reconcile"), stub.WithPluginIdx(index))
	if err != nil {
		return fmt.Errorf("make a plugin: %w", err)
	}
	// It returns when the runtime has closed the connection. The service manager or the kubelet
	// restarts the plugin, and it is synchronized again.
	if err := s.Run(ctx); err != nil && ctx.Err() == nil {
		return fmt.Errorf("serve the runtime at %s: %w", socket, err)
	}
	return nil
}

// plugin receives one event at a time, so that it needs no lock.
type plugin struct {
	folder string
}

// Synchronize receives all pods. It comes first, and again after each restart of the plugin or
// the runtime.
func (p *plugin) Synchronize(_ context.Context, pods []*api.PodSandbox, _ []*api.Container) ([]*api.ContainerUpdate, error) {
	existing := make(map[string]bool)
	for _, pod := range pods {
		switch podstate.FromPod(pod) {
		case podstate.Creating:
			existing[pod.GetId()] = true // RunPodSandbox follows: do nothing before it
		case podstate.Stopped:
			// It was stopped while the plugin was disconnected. Only its removal follows.
		case podstate.Ready, podstate.Unknown:
			existing[pod.GetId()] = true
			if err := p.keep(pod); err != nil {
				return nil, err
			}
		}
	}
	return nil, p.forgetOthers(existing)
}

// RunPodSandbox comes when the pod has its network and its process. An error rejects the pod;
// StopPodSandbox and RemovePodSandbox follow.
func (p *plugin) RunPodSandbox(_ context.Context, pod *api.PodSandbox) error {
	return p.keep(pod)
}

// StopPodSandbox comes once in a connection, while all resources of the pod still exist; or after
// Synchronize, if the pod was stopped while the plugin was disconnected. Then Synchronize has
// already freed it. An error is logged, and the pod is stopped nevertheless.
func (p *plugin) StopPodSandbox(_ context.Context, pod *api.PodSandbox) error {
	return p.forget(pod.GetId())
}

// RemovePodSandbox is the last event of a pod. It may come in two connections: a runtime that was
// killed does not know that the plugin had answered it.
func (p *plugin) RemovePodSandbox(_ context.Context, pod *api.PodSandbox) error {
	return p.forget(pod.GetId())
}

// keep does the same for new and for known pods.
func (p *plugin) keep(pod *api.PodSandbox) error {
	text := fmt.Sprintf("%s/%s %s\n", pod.GetNamespace(), pod.GetName(), podstate.FromPod(pod))
	file := filepath.Join(p.folder, pod.GetId())
	if err := os.WriteFile(file+".new", []byte(text), 0o600); err != nil {
		return fmt.Errorf("keep pod %s: %w", pod.GetId(), err)
	}
	if err := os.Rename(file+".new", file); err != nil {
		return fmt.Errorf("keep pod %s: %w", pod.GetId(), err)
	}
	return nil
}

// forget does the same for kept and for unknown pods.
func (p *plugin) forget(pod string) error {
	if err := os.Remove(filepath.Join(p.folder, pod)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget pod %s: %w", pod, err)
	}
	return nil
}

// forgetOthers removes the files of pods that were removed while the plugin was disconnected. It
// may not receive their ends, if it was disconnected for too long or another runtime ran meanwhile.
func (p *plugin) forgetOthers(existing map[string]bool) error {
	kept, err := os.ReadDir(p.folder)
	if err != nil {
		return fmt.Errorf("list kept pods: %w", err)
	}
	for _, file := range kept {
		if !existing[file.Name()] {
			if err := p.forget(file.Name()); err != nil {
				return err
			}
		}
	}
	return nil
}
