// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"time"

	"github.com/containerd/nri/pkg/log"
)

// startPlugins starts the runtime's own plugins, the builtin and the
// pre-installed ones, side by side, and waits until each has joined or failed to
// once. Those that failed are tried again for as long as the runtime runs. Neither
// a plugin, nor a file that is no plugin, nor a list that is not to be had keeps
// the runtime from starting.
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

// await waits for first tries, no longer than a plugin has to register, to be
// listed for and to be synchronized: a builtin plugin may not look at its context.
func (r *Adaptation) await(tried []chan struct{}) {
	bound := time.NewTimer(getPluginRegistrationTimeout() + getListTimeout() + getPluginSyncTimeout())
	defer bound.Stop()
	for _, once := range tried {
		select {
		case <-once:
		case <-bound.C:
			log.Errorf(noCtx, "some plugins are still to be synchronized, going on without them")
			return
		}
	}
}

// keepTrying brings in a plugin, and tries again until it joins or the runtime
// stops. tried is closed after the first try.
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
