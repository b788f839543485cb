// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/log"

	"github.com/containerd/nri/internal/lifecycle"
)

// errTurnedOff is why a plugin that is turned off does not join.
type errTurnedOff struct{ name string }

func (e *errTurnedOff) Error() string { return fmt.Sprintf("plugin %s is turned off", e.name) }

func (e *errTurnedOff) Unwrap() error { return lifecycle.ErrOff }

// TurnOffPlugin disconnects a plugin by its index and name, as "10-logger", and lets it not join
// until TurnOnPlugin. It returns whether the plugin was connected. The name may be that of a plugin
// that has never connected. Called before Start, it also keeps the runtime from launching the
// plugin. Plugins that are built into the runtime cannot be turned off.
func (r *Adaptation) TurnOffPlugin(name string) (connected bool, err error) {
	if err := r.checkSwitched(name); err != nil {
		return false, err
	}
	connected = r.engine.TurnOff(name) > 0
	log.Warnf(noCtx, "plugin %q is turned off", name)
	return connected, nil
}

// TurnOnPlugin lets a plugin join again, and starts it if the runtime launches it. It returns false
// if the plugin was not turned off.
func (r *Adaptation) TurnOnPlugin(name string) bool {
	was := r.engine.TurnOn(name)
	if was {
		log.Infof(noCtx, "plugin %q is turned on", name)
	}
	return was
}

// checkSwitched returns why the plugin of a name cannot be turned off, nil if it can.
func (r *Adaptation) checkSwitched(name string) error {
	index, base, _ := strings.Cut(name, "-")
	if api.CheckPluginIndex(clipped(index)) != nil || api.CheckPluginName(base) != nil || len(base) > maxPluginName {
		return fmt.Errorf("%q is not the index and name of a plugin, as 10-logger", clipped(name))
	}
	for _, b := range r.builtin {
		if name == b.Index+"-"+b.Base {
			return fmt.Errorf("plugin %s is built into the runtime", name)
		}
	}
	return nil
}

// checkOn returns an error if the plugin of a name is turned off.
func (r *Adaptation) checkOn(name string) error {
	if r.engine.Off(name) != nil {
		return &errTurnedOff{name}
	}
	return nil
}

// whenOn returns a channel that is closed when the plugin of an error is on, nil if it is not off.
func (r *Adaptation) whenOn(err error) <-chan struct{} {
	var off *errTurnedOff
	if !errors.As(err, &off) {
		return nil
	}
	return r.engine.Off(off.name)
}

// launch launches a plugin, unless it is turned off.
func (r *Adaptation) launch(index, base, config string) (*plugin, error) {
	name := index + "-" + base
	if err := r.checkOn(name); err != nil {
		return nil, err
	}
	p, err := r.newLaunchedPlugin(r.pluginPath, index, base, config)
	if err != nil {
		return nil, err
	}
	p.again = func() {
		create := func() (*plugin, error) { return r.launch(index, base, config) }
		r.keepTrying("pre-installed NRI plugin "+name, create, make(chan struct{}))
	}
	return p, nil
}

// An ExpectedEvent is an end that a disconnected plugin receives when it connects.
type ExpectedEvent struct {
	Event     string // as "StopPodSandbox"
	Pod       *PodSandbox
	Container *Container // nil for a pod
}

// Expected is what a disconnected plugin receives when it connects.
type Expected struct {
	Pods, Containers       int             // in its Synchronize
	NewPods, NewContainers int             // those of them that it does not know
	Missed                 []ExpectedEvent // then the ends that it has missed, in order
}

// Expect returns what a plugin would receive if it connected now, by its index and name. For a
// plugin that is connected, no ends are missed.
func (r *Adaptation) Expect(ctx context.Context, name string) (Expected, error) {
	x, err := r.engine.Expect(ctx, name)
	if err != nil {
		return Expected{}, fmt.Errorf("list what plugin %q receives: %w", clipped(name), err)
	}
	expected := Expected{Pods: len(x.List.Pods), Containers: len(x.List.Containers)}
	for _, o := range x.New {
		if o.Container == "" {
			expected.NewPods++
		} else {
			expected.NewContainers++
		}
	}
	for _, ev := range x.Ends {
		pod, ctr := subject(ev)
		expected.Missed = append(expected.Missed, ExpectedEvent{ev.Kind.String(), pod, ctr})
	}
	return expected, nil
}
