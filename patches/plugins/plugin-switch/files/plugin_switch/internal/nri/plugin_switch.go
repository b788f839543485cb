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

	nri "github.com/containerd/nri/pkg/adaptation"

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
	folder  offFolder
	writing chan struct{} // has a token while one goroutine changes the folder

	mu  sync.Mutex // guards off, and that NRI does what off says
	off map[string]time.Time
}

func newPluginSwitches(rootDir string) *pluginSwitches {
	s := &pluginSwitches{writing: make(chan struct{}, 1), off: make(map[string]time.Time)}
	if rootDir != "" {
		s.folder = offFolder(filepath.Join(rootDir, offDir))
	}
	return s
}

// turnOff turns a plugin off, unless too many are.
func (s *pluginSwitches) turnOff(n *nri.Adaptation, name string, since time.Time) (connected bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, is := s.off[name]
	if !is && len(s.off) == mostOff {
		return false, fmt.Errorf("%d plugins are turned off, and no more can be: %w", mostOff, errdefs.ErrResourceExhausted)
	}
	if connected, err = n.TurnOffPlugin(name); err != nil {
		return false, fmt.Errorf("%w: %w", err, errdefs.ErrInvalidArgument)
	}
	if !is {
		s.off[name] = since
	}
	nriPluginsOff.Set(float64(len(s.off)))
	return connected, nil
}

// turnOn turns a plugin on, and reports whether it was off.
func (s *pluginSwitches) turnOn(n *nri.Adaptation, name string) (was bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if was, err = n.TurnOnPlugin(name); err != nil {
		return false, fmt.Errorf("%w: %w", err, errdefs.ErrInvalidArgument)
	}
	delete(s.off, name)
	nriPluginsOff.Set(float64(len(s.off)))
	return was, nil
}

// all returns the plugins that are off, and since when.
func (s *pluginSwitches) all() map[string]time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.off)
}

// keep has the folder follow whether a plugin is off, and reports whether it has a file that it
// should not have had. A disk may hang: keep returns when ctx ends, and the plugin is switched
// nevertheless.
func (s *pluginSwitches) keep(ctx context.Context, name string) (was bool, err error) {
	type result struct {
		was bool
		err error
	}
	done := make(chan result, 1)
	go func() {
		s.writing <- struct{}{}
		defer func() { <-s.writing }()
		var r result
		if s.all()[name].IsZero() {
			r.was, r.err = s.folder.remove(name)
		} else {
			r.err = s.folder.add(name)
		}
		done <- r
	}()
	select {
	case r := <-done:
		return r.was, r.err
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

// diskWait is how long a switch waits for the disk.
const diskWait = 2 * time.Second

// turnOffKept turns off the plugins that were off before this start.
func (l *local) turnOffKept() {
	kept := l.switches.folder.kept()
	for _, name := range slices.Sorted(maps.Keys(kept)) {
		if _, err := l.switches.turnOff(l.nri, name, kept[name]); err != nil {
			log.L.WithError(err).WithField("plugin", name).Error("an NRI plugin that was turned off is on")
		}
	}
}

// TurnOffPlugin disconnects a plugin, by its index and name, and lets it not register until
// TurnOnPlugin, also after a restart.
func (l *local) TurnOffPlugin(ctx context.Context, name string) (operator.TurnedOff, error) {
	if !l.IsEnabled() {
		return operator.TurnedOff{}, errNRIDisabled
	}
	connected, err := l.switches.turnOff(l.nri, name, time.Now())
	if err != nil {
		return operator.TurnedOff{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, diskWait)
	defer cancel()
	if _, err := l.switches.keep(ctx, name); err != nil {
		return operator.TurnedOff{}, fmt.Errorf("plugin %s is turned off until the next start of containerd: %w", name, err)
	}
	return operator.TurnedOff{WasConnected: connected, RequiredFor: l.lacking(name)}, nil
}

// TurnOnPlugin lets a plugin register again that is turned off.
func (l *local) TurnOnPlugin(ctx context.Context, name string) error {
	if !l.IsEnabled() {
		return errNRIDisabled
	}
	was, err := l.switches.turnOn(l.nri, name)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, diskWait)
	defer cancel()
	kept, err := l.switches.keep(ctx, name)
	if err != nil {
		return fmt.Errorf("plugin %s is turned on until the next start of containerd: %w", name, err)
	}
	if was || kept {
		return nil
	}
	off := l.switches.all()
	if len(off) == 0 {
		return fmt.Errorf("no plugin is turned off: %w", errdefs.ErrNotFound)
	}
	return fmt.Errorf("plugin %q is not turned off, but %s: %w", name, strings.Join(slices.Sorted(maps.Keys(off)), ", "), errdefs.ErrNotFound)
}

// lacking returns what the settings require the plugin of an index and name for, if no plugin of
// that name is connected.
func (l *local) lacking(name string) []string {
	_, base, _ := strings.Cut(name, "-")
	var lacks []string
	for _, p := range l.requiredPlugins() {
		if p.Disconnected != nil && (p.Name == name || p.Name == base) {
			lacks = append(lacks, p.RequiredFor...)
		}
	}
	slices.Sort(lacks)
	return slices.Compact(lacks)
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
