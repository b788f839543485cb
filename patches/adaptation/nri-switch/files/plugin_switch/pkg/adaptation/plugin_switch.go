// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"context"
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
func (r *Adaptation) TurnOnPlugin(name string) (was bool, err error) {
	if err := r.checkSwitched(name); err != nil {
		return false, err
	}
	if was = r.engine.TurnOn(name); was {
		log.Infof(noCtx, "plugin %q is turned on", name)
		r.startAgain(name)
	}
	return was, nil
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
	if r.engine.IsOff(name) {
		return &errTurnedOff{name}
	}
	return nil
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
	Missed                 int             // the ends that it receives then
	Ends                   []ExpectedEvent // the first of them, in order
}

// Expect returns what a plugin would receive if it connected now, by its index and name, with no
// more than so many ends. For a plugin that is connected, no ends are missed. It calls SyncFn, also
// while plugins register.
func (r *Adaptation) Expect(ctx context.Context, name string, ends int) (Expected, error) {
	ctx, cancel := context.WithTimeout(ctx, getListTimeout())
	defer cancel()
	x, err := r.engine.Expect(ctx, name, ends)
	if err != nil {
		return Expected{}, fmt.Errorf("list what plugin %q receives: %w", clipped(name), err)
	}
	expected := Expected{
		Pods: x.Pods, NewPods: x.NewPods, Containers: x.Containers, NewContainers: x.NewContainers, Missed: x.Missed,
	}
	for _, ev := range x.Ends {
		pod, ctr := subject(ev)
		expected.Ends = append(expected.Ends, ExpectedEvent{ev.Kind.String(), pod, ctr})
	}
	return expected, nil
}
