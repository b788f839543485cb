// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"time"

	"github.com/containerd/nri/pkg/log"
)

// startPlugins starts the runtime's own plugins, the builtin and the
// pre-installed ones, side by side, and waits until each has joined or failed
// once. Plugins that failed are started again for as long as the runtime runs. The
// runtime starts also if a plugin fails, if a file is no plugin, or if the runtime
// cannot list its pods.
func (r *Adaptation) startPlugins() error {
	log.Infof(noCtx, "starting plugins...")
	var tried []chan struct{}
	start := func(name string, create func() (*plugin, error)) {
		once := make(chan struct{})
		tried = append(tried, once)
		go r.keepTrying(name, create, once)
	}
	for _, b := range r.builtin {
		start("builtin NRI plugin "+b.Index+"-"+b.Base, func() (*plugin, error) { return r.newBuiltinPlugin(b) })
	}
	ids, names, configs, err := r.discoverPlugins()
	if err != nil {
		log.Errorf(noCtx, "going on without pre-installed plugins: %v", err)
	}
	for i, name := range names {
		start("pre-installed NRI plugin "+ids[i]+"-"+name, func() (*plugin, error) {
			return r.newLaunchedPlugin(r.pluginPath, ids[i], name, configs[i])
		})
	}
	r.await(tried)
	r.logPlugins()
	return nil
}

// await waits for first tries. It waits no longer than registration, list and
// synchronization may take together: a builtin plugin may ignore its context.
func (r *Adaptation) await(tried []chan struct{}) {
	bound := time.NewTimer(getPluginRegistrationTimeout() + getListTimeout() + getPluginSyncTimeout())
	defer bound.Stop()
	for _, once := range tried {
		select {
		case <-once:
		case <-bound.C:
			log.Errorf(noCtx, "some plugins are not synchronized yet, going on without them")
			return
		}
	}
}

// keepTrying starts a plugin, again and again until it joins or the runtime stops.
// It closes tried after the first try.
func (r *Adaptation) keepTrying(name string, create func() (*plugin, error), tried chan<- struct{}) {
	var failed backoff
	for {
		err := r.bringIn(create)
		if failed.last == 0 {
			close(tried)
		}
		if err == nil {
			log.Infof(noCtx, "%s is synchronized", name)
			return
		}
		log.Errorf(noCtx, "%s failed to join, trying again: %v", name, err)
		if !failed.wait(r.ending) {
			return
		}
	}
}

func (r *Adaptation) bringIn(create func() (*plugin, error)) error {
	p, err := create()
	if err != nil {
		return err
	}
	if err := p.start(r.name, r.version); err != nil {
		_ = p.stop()
		return err
	}
	return r.join(noCtx, p)
}

// stopPlugins drops all plugins, and returns when none is served any more.
func (r *Adaptation) stopPlugins() {
	log.Infof(noCtx, "stopping plugins...")
	close(r.ending)
	r.engine.Close()
}
