// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/stub"

	"github.com/hookline-nri/hookline/plugin/podnetwork"
)

// A Plugin is an NRI plugin that stays registered. Its fields must not change while it runs.
type Plugin struct {
	// Index and Name are those of the registration, such as "50" and "keeper". If the runtime
	// starts the plugin, it gives it both, and these are not used. Without both, NRI's stub takes
	// them from the name of the program.
	Index, Name string

	// Socket is the runtime's socket for NRI. Default is NRI's.
	Socket string

	// Handler has a method for each event that the plugin wants, as for NRI's stub.
	Handler any

	// RegistrationTimeout is how long the runtime may take to accept a registration and to begin
	// with it. Default is 30 s: on a node that starts, the five seconds of NRI's stub may be too
	// short (containerd/nri#292).
	RegistrationTimeout time.Duration

	// Options are further options of NRI's stub, such as a failure policy or interceptors of ttrpc.
	// How the plugin connects and learns that its connection has ended is not for options: without
	// stub.WithDialer, stub.WithConnection and ttrpc.WithOnClose.
	Options []stub.Option

	// Log has a line for each connection that begins, ends or cannot be made. Default is slog's.
	Log *slog.Logger

	mu   sync.Mutex // guards open
	open *connection

	network atomic.Pointer[podnetwork.Status] // nil if the plugin has reported nothing
}

// ErrNotConnected is the error of UpdateContainers while the plugin is not registered.
var ErrNotConnected = errors.New("not connected to the runtime")

// Run registers the plugin and serves the runtime until ctx ends. When a connection ends, it waits for the
// handlers that still run, and registers again after a pause. It returns an error only if the plugin can
// never register: its index is invalid, Handler has no method for an event, or the runtime had started the
// plugin and has closed its only connection.
func (p *Plugin) Run(ctx context.Context) error {
	started := os.Getenv(api.PluginSocketEnvVar) != ""
	for pauses := newPauses(longestPause); ; {
		c, err := p.connection()
		if err != nil {
			return fmt.Errorf("plugin %s: %w", p.name(), err)
		}
		err = c.serve(ctx)
		if ctx.Err() == nil {
			p.log().Warn("the plugin is not connected", "plugin", p.name(), "reason", err)
		}
		served := c.served()
		c.drain()
		if ctx.Err() != nil {
			return nil
		}
		if started {
			return fmt.Errorf("plugin %s: the runtime's connection has ended: %w", p.name(), err)
		}
		sleep(ctx, pauses.next(served))
	}
}

// UpdateContainers asks the runtime for updates, and returns those that failed. It ends with the
// connection.
func (p *Plugin) UpdateContainers(updates []*api.ContainerUpdate) ([]*api.ContainerUpdate, error) {
	p.mu.Lock()
	c := p.open
	p.mu.Unlock()
	if c == nil {
		return nil, fmt.Errorf("plugin %s: update containers: %w", p.name(), ErrNotConnected)
	}
	return c.stub.UpdateContainers(updates)
}

// set notes the connection that is registered, nil for none.
func (p *Plugin) set(c *connection) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open = c
}

// name is for logs and errors.
func (p *Plugin) name() string {
	index, name := cmp.Or(os.Getenv(api.PluginIdxEnvVar), p.Index), cmp.Or(os.Getenv(api.PluginNameEnvVar), p.Name)
	if index == "" || name == "" {
		return filepath.Base(os.Args[0])
	}
	return index + "-" + name
}

func (p *Plugin) log() *slog.Logger { return cmp.Or(p.Log, slog.Default()) }
