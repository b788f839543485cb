// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"

	"github.com/containerd/nri/pkg/log"
)

// startPlugins starts the builtin and the pre-installed plugins, side by side,
// and brings in those that started. Only a builtin plugin that does not start,
// and a runtime that cannot say what there is, are errors.
func (r *Adaptation) startPlugins() (retErr error) {
	log.Infof(noCtx, "starting plugins...")

	ids, names, configs, err := r.discoverPlugins()
	if err != nil {
		return err
	}
	var started []*plugin
	defer func() {
		if retErr != nil {
			r.stopped = true
			r.engine.Close()
			for _, p := range started {
				_ = p.stop()
			}
		}
	}()

	for _, b := range r.builtin {
		log.Infof(noCtx, "starting builtin NRI plugin %q...", b.Index+"-"+b.Base)
		p, err := r.newBuiltinPlugin(b)
		if err != nil {
			return fmt.Errorf("failed to initialize builtin NRI plugin %q: %w", b.Base, err)
		}
		if err := p.start(r.name, r.version); err != nil {
			return fmt.Errorf("failed to start builtin NRI plugin %q: %w", b.Base, err)
		}
		started = append(started, p)
	}

	launched := make([]*plugin, len(names))
	var launches sync.WaitGroup
	for i, name := range names {
		launches.Add(1)
		go func() {
			defer launches.Done()
			log.Infof(noCtx, "starting pre-installed NRI plugin %q...", name)
			p, err := r.newLaunchedPlugin(r.pluginPath, ids[i], name, configs[i])
			if err == nil {
				err = p.start(r.name, r.version)
			}
			if err != nil {
				log.Warnf(noCtx, "failed to start pre-installed NRI plugin %q: %v", name, err)
				if p != nil {
					_ = p.stop()
				}
				return
			}
			launched[i] = p
		}()
	}
	launches.Wait()
	for _, p := range launched {
		if p != nil {
			started = append(started, p)
		}
	}

	var joins sync.WaitGroup
	errs := make([]error, len(started))
	for i, p := range started {
		joins.Add(1)
		go func() {
			defer joins.Done()
			errs[i] = r.join(noCtx, p)
		}()
	}
	joins.Wait()
	for i, p := range started {
		switch err := errs[i]; {
		case errors.Is(err, errRuntimeSync):
			return fmt.Errorf("failed to synchronize pre-installed NRI Plugins: %w", err)
		case err != nil:
			log.Warnf(noCtx, "failed to synchronize pre-installed NRI plugin %q: %v", p.name(), err)
		default:
			log.Infof(noCtx, "pre-installed NRI plugin %q synchronization success", p.name())
		}
	}
	r.logPlugins()
	return nil
}

// stopPlugins drops all plugins, and returns when none is served any more.
func (r *Adaptation) stopPlugins() {
	log.Infof(noCtx, "stopping plugins...")
	r.engine.Close()
}

// registering is how many external plugins may be registering at a time. Each
// has the registration timeout to get through.
const registering = 64

// acceptPluginConnections lets plugins register for as long as the listener
// is open. A plugin that takes its time delays no other, up to as many as may
// be registering.
func (r *Adaptation) acceptPluginConnections(l net.Listener) error {
	r.listener = l
	places := make(chan struct{}, registering)

	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				log.Infof(noCtx, "stopped accepting plugin connections (%v)", err)
				return
			}
			places <- struct{}{}
			go func() {
				defer func() { <-places }()
				r.register(noCtx, conn)
			}()
		}
	}()

	return nil
}

// register brings in an external plugin that has connected.
func (r *Adaptation) register(ctx context.Context, conn net.Conn) {
	p, err := r.newExternalPlugin(conn)
	if err == nil {
		err = p.start(r.name, r.version)
	}
	if err == nil {
		err = r.join(ctx, p)
	}
	if err != nil {
		log.Errorf(ctx, "plugin connected and failed to join: %v", err)
		if p != nil {
			p.close()
		}
		return
	}
	r.logPlugins()
	log.Infof(ctx, "plugin %q connected and synchronized", p.name())
}
