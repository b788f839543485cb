// SPDX-License-Identifier: Apache-2.0

package plugintest

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"github.com/containerd/nri/pkg/adaptation"
	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/ttrpc"

	"github.com/hookline-nri/hookline/plugin/podnetwork"
)

// A Runtime is NRI's half of a runtime, on a socket of its own. A test says what Synchronize lists, and
// sends each event itself.
type Runtime struct {
	folder string

	mu         sync.Mutex // guards what follows
	nri        *adaptation.Adaptation
	link       *link // from the socket to that of nri
	pods       []*api.PodSandbox
	containers []*api.Container
	update     func([]*api.ContainerUpdate) ([]*api.ContainerUpdate, error)
	joins      int
	changed    chan struct{} // closed when joins grows
	networks   map[string]*podnetwork.Network
	network    *podnetwork.Status // that a plugin has reported last
}

// NewRuntime makes a runtime that does not run yet, with a socket in a folder. The kernel allows a path of
// 107 bytes.
func NewRuntime(folder string) *Runtime {
	return &Runtime{folder: folder, changed: make(chan struct{}), networks: make(map[string]*podnetwork.Network)}
}

// Socket is where plugins register.
func (r *Runtime) Socket() string { return filepath.Join(r.folder, "nri.sock") }

// List says what the next Synchronize has.
func (r *Runtime) List(pods []*api.PodSandbox, containers []*api.Container) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pods, r.containers = pods, containers
}

// Start starts the runtime, also again after a Stop.
func (r *Runtime) Start() error {
	if r.NRI() != nil {
		return errors.New("start a runtime: it runs")
	}
	socket := filepath.Join(r.folder, "runtime.sock")
	nri, err := adaptation.New("plugintest", "1", r.synchronize, r.updateContainers,
		adaptation.WithSocketPath(socket),
		adaptation.WithTTRPCOptions(
			[]ttrpc.ClientOpts{ttrpc.WithUnaryClientInterceptor(r.hears)},
			[]ttrpc.ServerOpt{ttrpc.WithUnaryServerInterceptor(r.listens)}),
		adaptation.WithPluginPath(filepath.Join(r.folder, "plugins"))) // NRI would start the plugins of this machine
	if err != nil {
		return fmt.Errorf("make a runtime: %w", err)
	}
	if err := nri.Start(); err != nil {
		return fmt.Errorf("start a runtime: %w", err)
	}
	r.set(nri, nil)
	link, err := newLink(r.Socket(), socket)
	if err != nil {
		r.Stop()
		return fmt.Errorf("open the runtime to plugins: %w", err)
	}
	r.set(nri, link)
	return nil
}

// Stop ends the runtime. To plugins it looks like one that was killed.
func (r *Runtime) Stop() {
	r.mu.Lock()
	nri, link := r.nri, r.link
	r.mu.Unlock()
	if nri == nil {
		return
	}
	if link != nil {
		link.close()
	}
	nri.Stop()
	r.set(nil, nil)
}

// Disconnect ends the connections of all plugins.
func (r *Runtime) Disconnect() {
	r.mu.Lock()
	link := r.link
	r.mu.Unlock()
	if link != nil {
		link.cut()
	}
}

func (r *Runtime) set(nri *adaptation.Adaptation, link *link) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.nri, r.link = nri, link
}

// NRI sends events to the plugins that have joined. It is nil while the runtime does not run.
func (r *Runtime) NRI() *adaptation.Adaptation {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.nri
}

// Joined waits until plugins have joined the runtime n times, counted from its first start.
func (r *Runtime) Joined(ctx context.Context, n int) error {
	for {
		r.mu.Lock()
		joins, changed, nri := r.joins, r.changed, r.nri
		r.mu.Unlock()
		if joins >= n && nri != nil {
			nri.BlockPluginSync().Unblock() // until NRI has the plugin in its list
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("wait for a plugin to join: %d of %d times: %w", joins, n, ctx.Err())
		}
	}
}

// synchronize implements NRI's callback for a plugin that registers.
func (r *Runtime) synchronize(ctx context.Context, send adaptation.SyncCB) error {
	r.mu.Lock()
	starts, pods, containers := r.nri == nil, r.pods, r.containers
	r.mu.Unlock()
	if starts {
		return nil // NRI has started the plugins of its folder, if there are some
	}
	if _, err := send(ctx, pods, containers); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.joins++
	close(r.changed)
	r.changed = make(chan struct{})
	return nil
}

// OnUpdate sets how the runtime answers a plugin's UpdateContainers. Default is that it fails.
func (r *Runtime) OnUpdate(update func([]*api.ContainerUpdate) (failed []*api.ContainerUpdate, err error)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.update = update
}

// updateContainers implements NRI's callback for updates that a plugin asks for.
func (r *Runtime) updateContainers(_ context.Context, updates []*api.ContainerUpdate) ([]*api.ContainerUpdate, error) {
	r.mu.Lock()
	update := r.update
	r.mu.Unlock()
	if update == nil {
		return nil, errors.ErrUnsupported
	}
	return update(updates)
}
