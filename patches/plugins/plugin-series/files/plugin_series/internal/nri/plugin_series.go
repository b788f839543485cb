// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"sync"
	"time"

	"github.com/docker/go-metrics"
	"github.com/prometheus/client_golang/prometheus"
)

const (
	// seriesNames is how many names of plugins have series of their own.
	seriesNames = 64
	// seriesKept is how long a name keeps its series after it was last recorded, however
	// many other names are recorded. It is twice the longest time that a kubelet waits
	// before it restarts a container.
	seriesKept = 10 * time.Minute
	// otherNames stands for names without series of their own. No plugin can have this
	// name, because it has no index.
	otherNames = "other"
)

var nriPluginLatency *pluginTimer

// namesOfSeries are the names that have series in the metrics by plugin.
var namesOfSeries = &seriesOf{now: time.Now}

// seriesOf bounds the series of metrics that have the name of a plugin as a label (L22).
type seriesOf struct {
	now func() time.Time

	mu   sync.Mutex           // guards the fields below
	used map[string]time.Time // by name that has series: when it was last recorded
	of   []deleter
}

// A deleter is a metric with labels.
type deleter interface {
	DeletePartialMatch(prometheus.Labels) int
}

// label returns the label under which a name is recorded. A name that has series keeps
// them for seriesKept, so they still belong to the name when the caller records.
func (s *seriesOf) label(name string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	if _, has := s.used[name]; !has && len(s.used) >= seriesNames && !s.drop(now) {
		return otherNames
	}
	s.use(name, now)
	return name
}

// labelUnused is label for a name that is not in use. It takes only a free place, and the
// next name may take that place.
func (s *seriesOf) labelUnused(name string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, has := s.used[name]; has {
		return name
	}
	if len(s.used) >= seriesNames {
		return otherNames
	}
	s.use(name, time.Time{})
	return name
}

// use notes when a name was last recorded. s.mu is held.
func (s *seriesOf) use(name string, at time.Time) {
	if s.used == nil {
		s.used = make(map[string]time.Time)
	}
	s.used[name] = at
}

// drop deletes the series of the name that was recorded longest ago, if that was at least
// seriesKept ago. s.mu is held.
func (s *seriesOf) drop(now time.Time) bool {
	last, oldest := now, ""
	for name, at := range s.used {
		if at.Before(last) {
			last, oldest = at, name
		}
	}
	if now.Sub(last) < seriesKept {
		return false
	}
	delete(s.used, oldest)
	for _, metric := range s.of {
		metric.DeletePartialMatch(prometheus.Labels{"plugin": oldest})
	}
	return true
}

func (s *seriesOf) add(metric deleter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.of = append(s.of, metric)
}

// pluginNamespace is a namespace in which "plugin" is the first label of labeled metrics.
type pluginNamespace struct {
	*metrics.Namespace
	series *seriesOf
}

// byPlugin wraps the namespace of NRI's metrics.
func byPlugin(ns *metrics.Namespace) pluginNamespace { return pluginNamespace{ns, namesOfSeries} }

// NewLabeledCounter makes a counter.
func (n pluginNamespace) NewLabeledCounter(name, help string, labels ...string) metrics.LabeledCounter {
	vec := prometheus.V2.NewCounterVec(prometheus.CounterVecOpts{
		CounterOpts:    prometheus.CounterOpts{Namespace: "containerd", Subsystem: "nri", Name: name + "_" + string(metrics.Total), Help: help},
		VariableLabels: prometheus.UnconstrainedLabels(labels),
	})
	n.series.add(vec)
	n.Add(vec)
	return &pluginCounter{n.series, vec}
}

// NewLabeledTimer makes a timer.
func (n pluginNamespace) NewLabeledTimer(name, help string, labels ...string) *pluginTimer {
	vec := prometheus.V2.NewHistogramVec(prometheus.HistogramVecOpts{
		HistogramOpts:  prometheus.HistogramOpts{Namespace: "containerd", Subsystem: "nri", Name: name + "_" + string(metrics.Seconds), Help: help},
		VariableLabels: prometheus.UnconstrainedLabels(labels),
	})
	n.series.add(vec)
	n.Add(vec)
	return &pluginTimer{n.series, vec}
}

// pluginCounter is a counter by plugin.
type pluginCounter struct {
	series *seriesOf
	vec    *prometheus.CounterVec
}

// WithValues implements metrics.LabeledCounter.
func (c *pluginCounter) WithValues(values ...string) metrics.Counter {
	return count{c.vec.WithLabelValues(recorded(c.series, values)...)}
}

type count struct{ prometheus.Counter }

// Inc implements metrics.Counter.
func (c count) Inc(by ...float64) {
	if len(by) == 0 {
		c.Counter.Inc()
	}
	for _, n := range by {
		c.Add(n)
	}
}

// pluginTimer is a timer by plugin.
type pluginTimer struct {
	series *seriesOf
	vec    *prometheus.HistogramVec
}

// WithValues works as that of metrics.LabeledTimer.
func (t *pluginTimer) WithValues(values ...string) timed {
	return timed{t.vec.WithLabelValues(recorded(t.series, values)...)}
}

type timed struct{ prometheus.Observer }

// Update records how long something took.
func (t timed) Update(took time.Duration) { t.Observe(took.Seconds()) }

// recorded returns the values of labels to record. The first is the name of a plugin.
func recorded(series *seriesOf, values []string) []string {
	return append([]string{series.label(values[0])}, values[1:]...)
}
