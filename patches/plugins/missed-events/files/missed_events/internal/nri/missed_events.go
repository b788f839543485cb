// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"fmt"
	"iter"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/containerd/errdefs"
	"github.com/containerd/log"
	"golang.org/x/time/rate"

	nri "github.com/containerd/nri/pkg/adaptation"

	"github.com/containerd/containerd/v2/internal/tomlext"
	"github.com/hookline-nri/hookline/internal/nri/missed"
)

// missedEventsFile is where it is kept what plugins are owed, in NRI's folder below the root.
const missedEventsFile = "missed-events.db"

// An ExitedLister is a Domain with containers that it does not list any more, since they
// have exited, and that are still to be removed.
type ExitedLister interface {
	// ExitedContainers are the ids of their pods and their own: of what is being removed
	// there may be no more.
	ExitedContainers() iter.Seq2[string, string]
}

// listExited lists what has exited in all domains.
func (t *domainTable) listExited() (all []*nri.Container) {
	t.Lock()
	defer t.Unlock()
	for _, d := range t.domains {
		if exited, is := d.(ExitedLister); is {
			for pod, id := range exited.ExitedContainers() {
				all = append(all, &nri.Container{Id: id, PodSandboxId: pod})
			}
		}
	}
	return all
}

// MissedEventsIn says in which folder it is kept what plugins are owed. It has to outlive a
// boot of the node, as the root does. Without one it is kept in memory.
func (c *Config) MissedEventsIn(rootDir string) *Config {
	c.rootDir = rootDir
	return c
}

// keepMissedEvents opens the store of missed events, as far as it can be: whatever became of its
// file, NRI goes on.
func (l *local) keepMissedEvents() []nri.Option {
	path := ""
	if l.cfg.rootDir != "" {
		path = filepath.Join(l.cfg.rootDir, missedEventsFile)
	}
	if !l.cfg.KeepMissedEvents {
		dropMissedEvents(path)
		return nil
	}
	l.missed = missed.Open(missed.Options{
		Path:  path,
		TTL:   tomlext.ToStdTime(l.cfg.MissedEventsTTL),
		Bytes: l.cfg.MissedEventsBytes,

		Reserved: l.cfg.isReserved,
		Noted:    func(name, kind string) { nriMissedEvents.WithValues(name, kind).Inc() },
		Dropped: func(name, reason string, ends int) {
			nriMissedEventsDropped.WithValues(name, reason).Inc(float64(ends))
			log.L.WithField("plugin", name).WithField("reason", reason).Warnf("what an NRI plugin has missed is dropped: %d ends of pods and containers", ends)
		},
		Crowded: sparingly(func(name string, leftOut int) {
			log.L.WithField("plugin", name).WithField("others", leftOut).Warn("what an NRI plugin misses while it is disconnected is not kept: there are too many names that something is kept for")
		}),
		Failed: func(err error) {
			nriMissedEventsStoreFailures.Inc()
			log.L.WithError(err).Error("failed to keep what NRI plugins are owed")
		},
	})
	unheard.of(l.missed)
	return []nri.Option{nri.WithMissedEvents(l.missed, domains.listExited)}
}

// sparingly says some of the names that it is called with, and how many it has left out
// before: plugins come under any number of them.
func sparingly(say func(name string, leftOut int)) func(name string) {
	var leftOut atomic.Int64
	sometimes := rate.Sometimes{First: 10, Interval: 10 * time.Second}
	return func(name string) {
		leftOut.Add(1)
		sometimes.Do(func() { say(name, int(leftOut.Swap(0))-1) })
	}
}

// isReserved tells whether the settings say who may register under a name.
func (c *Config) isReserved(name string) bool {
	_, base, _ := strings.Cut(name, "-")
	for _, p := range []PluginConfig{c.Plugins[name], c.Plugins[base]} {
		if len(p.AllowedUsers)+len(p.AllowedNamespaces) > 0 {
			return true
		}
	}
	return false
}

// dropMissedEvents removes what was kept: it would be told long after, if ends are kept again.
func dropMissedEvents(path string) {
	if path == "" {
		return
	}
	if err := missed.Remove(path); err != nil {
		log.L.WithError(err).Warn("failed to drop the ends that NRI plugins were owed")
	}
}

// closeMissedEvents writes what is left to be written.
func (l *local) closeMissedEvents() {
	if l.missed != nil {
		l.missed.Close()
	}
}

// validateMissedEvents returns what is wrong with the settings of missed events.
func (c *Config) validateMissedEvents() (errs []error) {
	if c.MissedEventsTTL < 0 {
		errs = append(errs, fmt.Errorf("missed_events_ttl is %s: must not be negative", tomlext.ToStdTime(c.MissedEventsTTL)))
	}
	if c.MissedEventsBytes < 0 {
		errs = append(errs, fmt.Errorf("missed_events_bytes is %d: must not be negative", c.MissedEventsBytes))
	}
	return errs
}

// DisconnectedPluginStatus is a plugin that is not there now and for which ends are kept.
type DisconnectedPluginStatus struct {
	Name   string `json:"name"` // index and name, as "ctr nri forget" takes it
	Span          // since it is disconnected, or since the start if it went before
	Missed int    `json:"missed"` // ends that it has not heard
}

func (l *local) disconnectedPlugins() []DisconnectedPluginStatus {
	var all []DisconnectedPluginStatus
	for _, p := range l.nri.DisconnectedPlugins() {
		all = append(all, DisconnectedPluginStatus{Name: p.Name, Span: NewSpan(p.Disconnected), Missed: p.Missed})
	}
	return all
}

// ForgetPlugin drops what is kept for a plugin that is disconnected and not coming back, by its
// index and name. It returns how many ends the plugin was owed.
func (l *local) ForgetPlugin(name string) (int, error) {
	if !l.IsEnabled() {
		return 0, fmt.Errorf("NRI is disabled: %w", errdefs.ErrFailedPrecondition)
	}
	ends, ok := l.nri.ForgetPlugin(name)
	if ok {
		return ends, nil
	}
	var gone []string
	for _, p := range l.nri.DisconnectedPlugins() {
		gone = append(gone, p.Name)
	}
	if len(gone) == 0 {
		return 0, fmt.Errorf("no plugin is disconnected, and so not %q: %w", name, errdefs.ErrNotFound)
	}
	return 0, fmt.Errorf("plugin %q is not away: %s are: %w", name, strings.Join(gone, ", "), errdefs.ErrNotFound)
}
