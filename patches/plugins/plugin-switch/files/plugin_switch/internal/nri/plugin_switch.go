// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/containerd/errdefs"
	"github.com/containerd/log"

	"github.com/containerd/containerd/v2/internal/nri/operator"
)

const (
	// offDir is the folder of plugins that are turned off, in NRI's folder below the root.
	offDir = "off"
	// mostOff is how many plugins may be turned off.
	mostOff = 64
)

// pluginSwitches has the plugins that an operator has turned off.
type pluginSwitches struct {
	folder offFolder
	turn   chan struct{} // has a token while a switch is turned: the folder follows what NRI does

	mu  sync.Mutex // guards off
	off map[string]time.Time
}

func newPluginSwitches(rootDir string) *pluginSwitches {
	s := &pluginSwitches{turn: make(chan struct{}, 1), off: make(map[string]time.Time)}
	if rootDir != "" {
		s.folder = offFolder(filepath.Join(rootDir, offDir))
	}
	return s
}

// begin waits for its turn, and returns a function that ends it.
func (s *pluginSwitches) begin(ctx context.Context) (end func(), err error) {
	select {
	case s.turn <- struct{}{}:
		return func() { <-s.turn }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// set notes that a plugin is off.
func (s *pluginSwitches) set(name string, since time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, is := s.off[name]; !is {
		s.off[name] = since
	}
	nriPluginsOff.Set(float64(len(s.off)))
}

// unset notes that a plugin is on.
func (s *pluginSwitches) unset(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.off, name)
	nriPluginsOff.Set(float64(len(s.off)))
}

// all returns the plugins that are off, and since when.
func (s *pluginSwitches) all() map[string]time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.off)
}

// turnOffKept turns off the plugins that were off before this start.
func (l *local) turnOffKept() {
	for name, since := range l.switches.folder.kept() {
		if _, err := l.nri.TurnOffPlugin(name); err != nil {
			log.L.WithError(err).Error("an NRI plugin that was turned off is on")
			continue
		}
		l.switches.set(name, since)
	}
}

// TurnOffPlugin disconnects a plugin, by its index and name, and lets it not register until
// TurnOnPlugin, also after a restart.
func (l *local) TurnOffPlugin(ctx context.Context, name string) (operator.TurnedOff, error) {
	if !l.IsEnabled() {
		return operator.TurnedOff{}, fmt.Errorf("NRI is disabled: %w", errdefs.ErrFailedPrecondition)
	}
	end, err := l.switches.begin(ctx)
	if err != nil {
		return operator.TurnedOff{}, err
	}
	defer end()
	if off := l.switches.all(); len(off) >= mostOff && off[name].IsZero() {
		return operator.TurnedOff{}, fmt.Errorf("%d plugins are turned off, and no more can be: %w", len(off), errdefs.ErrResourceExhausted)
	}
	connected, err := l.nri.TurnOffPlugin(name)
	if err != nil {
		return operator.TurnedOff{}, fmt.Errorf("%w: %w", err, errdefs.ErrInvalidArgument)
	}
	l.switches.set(name, time.Now())
	if err := l.switches.folder.add(name); err != nil {
		return operator.TurnedOff{}, fmt.Errorf("plugin %s is turned off until the next start of containerd: %w", name, err)
	}
	return operator.TurnedOff{WasConnected: connected, RequiredFor: l.cfg.requiredFor(name)}, nil
}

// TurnOnPlugin lets a plugin register again that is turned off.
func (l *local) TurnOnPlugin(ctx context.Context, name string) error {
	if !l.IsEnabled() {
		return fmt.Errorf("NRI is disabled: %w", errdefs.ErrFailedPrecondition)
	}
	end, err := l.switches.begin(ctx)
	if err != nil {
		return err
	}
	defer end()
	off := l.switches.all()
	if off[name].IsZero() {
		if len(off) == 0 {
			return fmt.Errorf("no plugin is turned off: %w", errdefs.ErrNotFound)
		}
		return fmt.Errorf("plugin %q is not turned off, but %s: %w", name, strings.Join(slices.Sorted(maps.Keys(off)), ", "), errdefs.ErrNotFound)
	}
	kept := l.switches.folder.remove(name)
	l.switches.unset(name)
	l.nri.TurnOnPlugin(name)
	if kept != nil {
		return fmt.Errorf("plugin %s is turned on until the next start of containerd: %w", name, kept)
	}
	return nil
}

// requiredFor returns what requires the plugin of an index and name.
func (c *Config) requiredFor(name string) []string {
	_, base, _ := strings.Cut(name, "-")
	required := slices.Concat(c.Plugins[name].RequiredFor, c.Plugins[base].RequiredFor)
	slices.Sort(required)
	return slices.Compact(required)
}

// PluginOffStatus is a plugin that is turned off.
type PluginOffStatus struct {
	Name string `json:"name"` // index and name
	Span        // since it was turned off
}

func (l *local) pluginsOff() (all []PluginOffStatus) {
	off := l.switches.all()
	for _, name := range slices.Sorted(maps.Keys(off)) {
		all = append(all, PluginOffStatus{Name: name, Span: NewSpan(off[name])})
	}
	return all
}
