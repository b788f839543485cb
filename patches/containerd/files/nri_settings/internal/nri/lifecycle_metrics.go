// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"sync/atomic"
	"time"

	"github.com/docker/go-metrics"
	"github.com/prometheus/client_golang/prometheus"

	nri "github.com/containerd/nri/pkg/adaptation"
)

var (
	nriDeliveries metrics.LabeledCounter
	nriWait       metrics.LabeledTimer
	nriLate       metrics.LabeledCounter
	nriJoins      metrics.LabeledTimer
	nriLeaves     metrics.LabeledCounter

	// queues asks for the depths when it is collected.
	queues = &queueCollector{}
)

func init() {
	ns := metrics.NewNamespace("containerd", "nri", nil)

	nriDeliveries = ns.NewLabeledCounter("deliveries", "Number of events that ended for an NRI plugin", "plugin", "event", "outcome")
	nriWait = ns.NewLabeledTimer("delivery_wait", "Time that events waited behind others for an NRI plugin", "plugin", "event")
	nriLate = ns.NewLabeledCounter("late_deliveries", "Number of ends of pods and containers that an NRI plugin was told of after nobody waited any more", "plugin", "event")
	nriJoins = ns.NewLabeledTimer("joins", "Time that NRI plugins took to synchronize", "plugin")
	nriLeaves = ns.NewLabeledCounter("leaves", "Number of NRI plugins that closed or were dropped", "plugin", "reason")

	queues.desc = ns.NewDesc("waiting", "Number of events that wait for an NRI plugin", metrics.Total, "plugin")
	ns.Add(queues)

	metrics.Register(ns)
}

var _ nri.LifecycleMetrics = (*nriMetrics)(nil)

// RecordDelivery implements nri.LifecycleMetrics.
func (m *nriMetrics) RecordDelivery(plugin, event, outcome string, waited, _ time.Duration, late bool) {
	nriDeliveries.WithValues(plugin, event, outcome).Inc()
	nriWait.WithValues(plugin, event).Update(waited)
	if late {
		nriLate.WithValues(plugin, event).Inc()
	}
}

// RecordJoin implements nri.LifecycleMetrics.
func (m *nriMetrics) RecordJoin(plugin string, took time.Duration, _, _ int) {
	nriJoins.WithValues(plugin).Update(took)
}

// RecordLeave implements nri.LifecycleMetrics.
func (m *nriMetrics) RecordLeave(plugin, reason string) {
	nriLeaves.WithValues(plugin, reason).Inc()
}

// queueCollector collects how many events wait for each plugin.
type queueCollector struct {
	desc    *prometheus.Desc
	plugins atomic.Pointer[nri.Adaptation]
}

// of says whose plugins to look at.
func (c *queueCollector) of(plugins *nri.Adaptation) { c.plugins.Store(plugins) }

// Describe implements prometheus.Collector.
func (c *queueCollector) Describe(descs chan<- *prometheus.Desc) { descs <- c.desc }

// Collect implements prometheus.Collector. Two connections of a plugin, as
// during a rolling update, count as one.
func (c *queueCollector) Collect(values chan<- prometheus.Metric) {
	plugins := c.plugins.Load()
	if plugins == nil {
		return
	}
	waiting := map[string]int{}
	for _, p := range plugins.PluginStatus() {
		waiting[p.Name] += p.Waiting
	}
	for name, n := range waiting {
		values <- prometheus.MustNewConstMetric(c.desc, prometheus.GaugeValue, float64(n), name)
	}
}
