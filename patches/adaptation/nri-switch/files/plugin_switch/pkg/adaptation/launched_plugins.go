// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"errors"
	"sync"

	"github.com/containerd/nri/internal/lifecycle"
)

// A launched plugin is one of the plugin folder. The runtime launches it at its start, until it has
// joined once, and again when it is turned on.
type launched struct {
	r           *Adaptation
	index, base string

	mu      sync.Mutex // guards running
	running bool       // whether it is connected, or is being launched
}

func (l *launched) name() string { return l.index + "-" + l.base }

// start launches the plugin unless it runs, and closes tried after the first try.
func (l *launched) start(tried chan<- struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.running {
		close(tried)
		return
	}
	l.running = true
	go l.run(tried)
}

// run launches the plugin, and again if it was turned off and is on by the time it has left.
func (l *launched) run(tried chan<- struct{}) {
	for {
		off := l.serve(tried)
		tried = make(chan struct{})
		l.mu.Lock()
		l.running = off && !l.r.engine.IsOff(l.name())
		again := l.running
		l.mu.Unlock()
		if !again {
			return
		}
	}
}

// serve launches the plugin, and returns when it has left, or the runtime stops. It reports whether
// the plugin was turned off.
func (l *launched) serve(tried chan<- struct{}) (off bool) {
	var p *plugin
	err := l.r.keepTrying("pre-installed NRI plugin "+l.name(), func() (_ *plugin, err error) {
		p, err = l.launch()
		return p, err
	}, tried)
	if err != nil {
		return errors.Is(err, lifecycle.ErrOff)
	}
	select {
	case reason := <-p.left:
		return errors.Is(reason, lifecycle.ErrOff)
	case <-l.r.ending:
		return false
	}
}

// launch launches the plugin with its present configuration, unless it is turned off.
func (l *launched) launch() (*plugin, error) {
	if err := l.r.checkOn(l.name()); err != nil {
		return nil, err
	}
	config, err := l.r.getPluginConfig(l.index, l.base)
	if err != nil {
		return nil, err
	}
	p, err := l.r.newLaunchedPlugin(l.r.pluginPath, l.index, l.base, config)
	if err != nil {
		return nil, err
	}
	p.left = make(chan error, 1)
	return p, nil
}

// startAgain launches a plugin that was turned on, if it is one of the plugin folder.
func (r *Adaptation) startAgain(name string) {
	r.Lock()
	l := r.launched[name]
	r.Unlock()
	if l != nil {
		l.start(make(chan struct{}))
	}
}

// addLaunched notes a plugin of the plugin folder.
func (r *Adaptation) addLaunched(index, base string) *launched {
	l := &launched{r: r, index: index, base: base}
	r.Lock()
	defer r.Unlock()
	if r.launched == nil {
		r.launched = make(map[string]*launched)
	}
	r.launched[l.name()] = l
	return l
}
