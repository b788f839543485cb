// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"sync"

	"github.com/containerd/nri/internal/lifecycle"
)

// A launched plugin is one of the plugin folder. The runtime launches it at its start, until it has
// joined once, and again when it is turned on. One that is turned off and on while it is being
// launched may be launched once more when it exits.
type launched struct {
	r           *Adaptation
	index, base string

	mu       sync.Mutex // guards what follows
	running  bool       // whether it is connected, or is being launched
	turnedOn bool       // whether it was turned on since it was last launched
}

func (l *launched) name() string { return l.index + "-" + l.base }

// start launches the plugin unless it runs, and closes tried after the first try.
func (l *launched) start(tried chan<- struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.running {
		l.turnedOn = true // it may have left already
		close(tried)
		return
	}
	l.running = true
	go l.run(tried)
}

// run launches the plugin, and again if it was turned on meanwhile and still is when it has left.
func (l *launched) run(tried chan<- struct{}) {
	for {
		l.serve(tried)
		if !l.goesOn() {
			return
		}
		tried = make(chan struct{})
	}
}

// goesOn reports whether a plugin that has left is launched again.
func (l *launched) goesOn() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.running = l.turnedOn && !l.r.engine.IsOff(l.name())
	return l.running
}

// serve launches the plugin, and returns when it has left, or the runtime stops.
func (l *launched) serve(tried chan<- struct{}) {
	var p *plugin
	err := l.r.keepTrying("pre-installed NRI plugin "+l.name(), func() (_ *plugin, err error) {
		p, err = l.launch()
		return p, err
	}, tried)
	if err != nil {
		return
	}
	select {
	case <-p.left:
	case <-l.r.ending:
	}
}

// launch launches the plugin with its present configuration, unless it is turned off or the runtime
// stops.
func (l *launched) launch() (*plugin, error) {
	l.mu.Lock()
	l.turnedOn = false
	l.mu.Unlock()
	select {
	case <-l.r.ending:
		return nil, lifecycle.ErrClosed
	default:
	}
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
	p.left = make(chan struct{})
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
