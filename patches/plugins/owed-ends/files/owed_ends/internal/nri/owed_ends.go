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
	"github.com/hookline-nri/hookline/internal/nri/owed"
)

// owedEndsFile is where it is kept what plugins are owed, in NRI's folder below the root.
const owedEndsFile = "owed-ends.db"

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

// OwedEndsIn says in which folder it is kept what plugins are owed. It has to outlive a
// boot of the node, as the root does. Without one it is kept in memory.
func (c *Config) OwedEndsIn(rootDir string) *Config {
	c.rootDir = rootDir
	return c
}

// keepOwedEnds opens the store of owed ends, as far as it can be: whatever became of its
// file, NRI goes on.
func (l *local) keepOwedEnds() []nri.Option {
	path := ""
	if l.cfg.rootDir != "" {
		path = filepath.Join(l.cfg.rootDir, owedEndsFile)
	}
	if !l.cfg.KeepOwedEnds {
		dropOwedEnds(path)
		return nil
	}
	l.owed = owed.Open(owed.Options{
		Path:  path,
		TTL:   tomlext.ToStdTime(l.cfg.OwedEndsTTL),
		Bytes: l.cfg.OwedEndsBytes,

		Reserved: l.cfg.isReserved,
		Noted:    func(name, kind string) { nriEndsOwed.WithValues(name, kind).Inc() },
		Dropped: func(name, reason string, ends int) {
			nriEndsDropped.WithValues(name, reason).Inc(float64(ends))
			log.L.WithField("plugin", name).WithField("reason", reason).Warnf("what an NRI plugin has missed is dropped: %d ends of pods and containers", ends)
		},
		Crowded: sparingly(func(name string, leftOut int) {
			log.L.WithField("plugin", name).WithField("others", leftOut).Warn("what an NRI plugin misses while it is away is not kept: there are too many names that something is kept for")
		}),
		Failed: func(err error) {
			nriOwedStoreFailures.Inc()
			log.L.WithError(err).Error("failed to keep what NRI plugins are owed")
		},
	})
	unheard.of(l.owed)
	return []nri.Option{nri.WithOwedEnds(l.owed, domains.listExited)}
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

// dropOwedEnds removes what was kept: it would be told long after, if ends are kept again.
func dropOwedEnds(path string) {
	if path == "" {
		return
	}
	if err := owed.Remove(path); err != nil {
		log.L.WithError(err).Warn("failed to drop the ends that NRI plugins were owed")
	}
}

// closeOwedEnds writes what is left to be written.
func (l *local) closeOwedEnds() {
	if l.owed != nil {
		l.owed.Close()
	}
}

// validateOwedEnds returns what is wrong with the settings of owed ends.
func (c *Config) validateOwedEnds() (errs []error) {
	if c.OwedEndsTTL < 0 {
		errs = append(errs, fmt.Errorf("owed_ends_ttl is %s: must not be negative", tomlext.ToStdTime(c.OwedEndsTTL)))
	}
	if c.OwedEndsBytes < 0 {
		errs = append(errs, fmt.Errorf("owed_ends_bytes is %d: must not be negative", c.OwedEndsBytes))
	}
	return errs
}

// AwayPluginStatus is a plugin that is not there now and for which ends are kept.
type AwayPluginStatus struct {
	Name string `json:"name"` // index and name, as "ctr nri forget" takes it
	Span        // since it is away, or since the start if it went before
	Owed int    `json:"owed"` // ends that it has not heard
}

func (l *local) awayPlugins() []AwayPluginStatus {
	var all []AwayPluginStatus
	for _, p := range l.nri.AwayPlugins() {
		all = append(all, AwayPluginStatus{Name: p.Name, Span: NewSpan(p.Away), Owed: p.Owed})
	}
	return all
}

// ForgetPlugin drops what is kept for a plugin that is away and not coming back, by its
// index and name. It returns how many ends the plugin was owed.
func (l *local) ForgetPlugin(name string) (int, error) {
	if !l.IsEnabled() {
		return 0, fmt.Errorf("NRI is disabled: %w", errdefs.ErrFailedPrecondition)
	}
	ends, ok := l.nri.ForgetPlugin(name)
	if ok {
		return ends, nil
	}
	var away []string
	for _, p := range l.nri.AwayPlugins() {
		away = append(away, p.Name)
	}
	if len(away) == 0 {
		return 0, fmt.Errorf("no plugin is away, and so not %q: %w", name, errdefs.ErrNotFound)
	}
	return 0, fmt.Errorf("plugin %q is not away: %s are: %w", name, strings.Join(away, ", "), errdefs.ErrNotFound)
}
