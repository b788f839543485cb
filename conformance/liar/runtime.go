// SPDX-License-Identifier: Apache-2.0

// Package liar is a runtime that breaks one rule of the contract at a time, to test that the cases
// of the conformance test find it. It serves CRI, and NRI with NRI's own adaptation; its pods and
// containers are entries of a map.
package liar

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/containerd/nri/pkg/adaptation"
	"google.golang.org/grpc"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// Runtime is such a runtime. It serves until Close.
type Runtime struct {
	runtime.UnimplementedRuntimeServiceServer
	lie    Lie
	folder string
	nri    *adaptation.Adaptation
	server *grpc.Server
	served sync.WaitGroup

	cniBin, cniConf string // folders; empty where there is no network
	listeners       listeners
	slowness        func(pod string) time.Duration // of the pod's stop; may be nil

	mu         sync.Mutex // guards the fields below; not held while plugins are asked
	number     int
	pods       map[string]*pod
	containers map[string]*container
}

// Start serves CRI and NRI on sockets in a folder.
func Start(folder string, lie Lie) (*Runtime, error) {
	r := &Runtime{
		lie: lie, folder: folder, pods: map[string]*pod{}, containers: map[string]*container{},
		listeners: listeners{all: map[chan *runtime.ContainerEventResponse]bool{}},
	}
	var err error
	r.nri, err = adaptation.New("liar", "1", r.synchronize, r.update,
		adaptation.WithSocketPath(r.NRI()),
		adaptation.WithPluginPath(filepath.Join(folder, "plugins")), adaptation.WithPluginConfigPath(filepath.Join(folder, "conf")))
	if err != nil {
		return nil, fmt.Errorf("make NRI: %w", err)
	}
	if err := r.nri.Start(); err != nil {
		return nil, fmt.Errorf("start NRI: %w", err)
	}
	listener, err := net.Listen("unix", r.CRI())
	if err != nil {
		r.nri.Stop()
		return nil, err
	}
	r.server = grpc.NewServer()
	runtime.RegisterRuntimeServiceServer(r.server, r)
	r.served.Go(func() { _ = r.server.Serve(listener) })
	return r, nil
}

// Close ends the runtime.
func (r *Runtime) Close() error {
	r.server.Stop()
	r.served.Wait()
	r.nri.Stop()
	return errors.Join(remove(r.CRI()), remove(r.NRI()))
}

func remove(path string) error {
	if err := os.Remove(path); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// SetSlowness makes the first stop of a pod as slow as the function says for its name.
func (r *Runtime) SetSlowness(of func(pod string) time.Duration) { r.slowness = of }

// CRI returns the path of the socket of CRI.
func (r *Runtime) CRI() string { return filepath.Join(r.folder, "cri.sock") }

// NRI returns the path of the socket of NRI.
func (r *Runtime) NRI() string { return filepath.Join(r.folder, "nri.sock") }

// synchronize sends a joining plugin the pods and containers that exist.
func (r *Runtime) synchronize(ctx context.Context, tell adaptation.SyncCB) error {
	var pods []*adaptation.PodSandbox
	var containers []*adaptation.Container
	r.mu.Lock()
	for _, p := range r.pods {
		if p.state != creating && p.state != gone && r.lie != SynchronizesNoPods {
			pods = append(pods, p.nri())
		}
	}
	for _, c := range r.containers {
		if c.state != exited && r.lie != SynchronizesNoPods {
			containers = append(containers, c.nri())
		}
	}
	r.mu.Unlock()
	_, err := tell(ctx, pods, containers)
	return err
}

func (r *Runtime) update(context.Context, []*adaptation.ContainerUpdate) ([]*adaptation.ContainerUpdate, error) {
	return nil, nil
}

// Version returns the lie as the version.
func (r *Runtime) Version(context.Context, *runtime.VersionRequest) (*runtime.VersionResponse, error) {
	return &runtime.VersionResponse{Version: "0.1.0", RuntimeName: "liar", RuntimeVersion: string(r.lie), RuntimeApiVersion: "v1"}, nil
}

// id makes an id. It needs r.mu.
func (r *Runtime) id() string {
	r.number++
	return fmt.Sprintf("%064x", r.number)
}

// of returns the containers of a pod, oldest first.
func (r *Runtime) of(pod string) (all []*container) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.containers {
		if c.pod.id == pod {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b *container) int { return a.number - b.number })
	return all
}
