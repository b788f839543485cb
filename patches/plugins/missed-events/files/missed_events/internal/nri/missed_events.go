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

// missedEventsFile is the file of missed events, in NRI's folder below the root.
const missedEventsFile = "missed-events.db"

// An ExitedLister is a Domain that can list exited containers, which ListContainers leaves
// out, until they are removed.
type ExitedLister interface {
	// ExitedContainers returns the id of the pod and of the container. A container that is
	// being removed may have nothing but its ids.
	ExitedContainers() iter.Seq2[string, string]
}

// listExited lists the exited containers of all domains.
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

// MissedEventsIn sets the folder of the file of missed events. It must outlive a boot of
// the node, as the root does. Without a folder, missed events are kept in memory.
func (c *Config) MissedEventsIn(rootDir string) *Config {
	c.rootDir = rootDir
	return c
}

// keepMissedEvents opens the store of missed events. NRI starts whatever the state of the
// store's file.
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
			log.L.WithField("plugin", name).WithField("reason", reason).Warnf("dropped the missed events of an NRI plugin: %d ends of pods and containers", ends)
		},
		Crowded: sparingly(func(name string, leftOut int) {
			log.L.WithField("plugin", name).WithField("others", leftOut).Warn("the missed events of an NRI plugin are not kept: too many other names have some")
		}),
		Failed: func(err error) {
			nriMissedEventsStoreFailures.Inc()
			log.L.WithError(err).Error("failed to keep the missed events of NRI plugins")
		},
	})
	keptEvents.of(l.missed)
	return []nri.Option{nri.WithMissedEvents(l.missed, domains.listExited)}
}

// sparingly passes on some of the names that it is called with, and how many it has left
// out before. Plugins can register under any number of names.
func sparingly(say func(name string, leftOut int)) func(name string) {
	var leftOut atomic.Int64
	sometimes := rate.Sometimes{First: 10, Interval: 10 * time.Second}
	return func(name string) {
		leftOut.Add(1)
		sometimes.Do(func() { say(name, int(leftOut.Swap(0))-1) })
	}
}

// isReserved reports whether the settings reserve a name for users or namespaces.
func (c *Config) isReserved(name string) bool {
	_, base, _ := strings.Cut(name, "-")
	for _, p := range []PluginConfig{c.Plugins[name], c.Plugins[base]} {
		if len(p.AllowedUsers)+len(p.AllowedNamespaces) > 0 {
			return true
		}
	}
	return false
}

// dropMissedEvents removes the file of missed events. They would be delivered much too late
// if the setting were switched on again.
func dropMissedEvents(path string) {
	if path == "" {
		return
	}
	if err := missed.Remove(path); err != nil {
		log.L.WithError(err).Warn("failed to drop the missed events of NRI plugins")
	}
}

// closeMissedEvents writes all missed events that are not in the file yet.
func (l *local) closeMissedEvents() {
	if l.missed != nil {
		l.missed.Close()
	}
}

// validateMissedEvents returns the errors in the settings of missed events.
func (c *Config) validateMissedEvents() (errs []error) {
	if c.MissedEventsTTL < 0 {
		errs = append(errs, fmt.Errorf("missed_events_ttl is %s: must not be negative", tomlext.ToStdTime(c.MissedEventsTTL)))
	}
	if c.MissedEventsBytes < 0 {
		errs = append(errs, fmt.Errorf("missed_events_bytes is %d: must not be negative", c.MissedEventsBytes))
	}
	return errs
}

// DisconnectedPluginStatus is a disconnected plugin for which missed events are kept.
type DisconnectedPluginStatus struct {
	Name   string `json:"name"` // index and name, as "ctr nri forget" takes it
	Span          // since it disconnected, or since containerd's start if that was later
	Missed int    `json:"missed"` // ends that it has not received
}

func (l *local) disconnectedPlugins() []DisconnectedPluginStatus {
	var all []DisconnectedPluginStatus
	for _, p := range l.nri.DisconnectedPlugins() {
		all = append(all, DisconnectedPluginStatus{Name: p.Name, Span: NewSpan(p.Disconnected), Missed: p.Missed})
	}
	return all
}

// errNRIDisabled is why an operator's request is rejected.
var errNRIDisabled = fmt.Errorf("NRI is disabled: %w", errdefs.ErrFailedPrecondition)

// ForgetPlugin drops the missed events of a disconnected plugin that will not come back,
// by its index and name. It returns how many there were.
func (l *local) ForgetPlugin(name string) (int, error) {
	if !l.IsEnabled() {
		return 0, errNRIDisabled
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
		return 0, fmt.Errorf("no plugin is disconnected, so %q cannot be forgotten: %w", name, errdefs.ErrNotFound)
	}
	return 0, fmt.Errorf("plugin %q is not disconnected, but %s: %w", name, strings.Join(gone, ", "), errdefs.ErrNotFound)
}
