// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"strings"
	"sync/atomic"
	"time"

	"github.com/docker/go-metrics"
	"github.com/prometheus/client_golang/prometheus"

	nri "github.com/containerd/nri/pkg/adaptation"
)

var (
	nriDeliveries     metrics.LabeledCounter
	nriDeliveryWait   *pluginTimer
	nriLateDeliveries metrics.LabeledCounter
	nriLateAnswers    *pluginTimer
	nriSync           *pluginTimer
	nriDisconnects    metrics.LabeledCounter

	// queues reads the lengths of queues when metrics are collected.
	queues = &queueCollector{}
)

func init() {
	ns := byPlugin(metrics.NewNamespace("containerd", "nri", nil))

	nriDeliveries = ns.NewLabeledCounter("plugin_deliveries", "Events for an NRI plugin, by outcome: answered, rejected, timed_out, canceled (the caller canceled), withdrawn (the caller canceled before the event was sent), lost (the plugin disconnected) or skipped (the plugin was overdue, was not synchronized yet, or reconnected during the creation)", "plugin", "operation", "outcome")
	nriDeliveryWait = ns.NewLabeledTimer("plugin_delivery_wait", "Time that events waited for the earlier requests of the same NRI plugin", "plugin", "operation")
	nriLateDeliveries = ns.NewLabeledCounter("plugin_late_deliveries", "Stops and removals that were delivered to an NRI plugin after the request had stopped waiting for it, creations that had skipped the plugin, and events that say what holds after an update", "plugin", "operation")
	nriLateAnswers = ns.NewLabeledTimer("plugin_late_answer", "Time that an NRI plugin took to answer events that had timed out, or whose caller had canceled", "plugin", "operation")
	nriSync = ns.NewLabeledTimer("plugin_sync", "Time from the registration of an NRI plugin until it was synchronized", "plugin")
	nriDisconnects = ns.NewLabeledCounter("plugin_disconnects", "Disconnects of NRI plugins, by reason: closed (by the plugin, or because containerd stops), or why containerd disconnected it: timeout, backlog or error", "plugin", "reason")

	queues.desc = ns.NewDesc("plugin_queue_length", "Events that wait for an NRI plugin now", "", "plugin")
	ns.Add(queues)

	metrics.Register(ns.Namespace)
}

var _ nri.LifecycleMetrics = (*nriMetrics)(nil)

// RecordDelivery implements nri.LifecycleMetrics. The labels are those of NRI's other metrics
// of plugins. Their values are in snake case.
func (m *nriMetrics) RecordDelivery(plugin, event, outcome string, waited, _ time.Duration, late bool) {
	nriDeliveries.WithValues(plugin, event, strings.ReplaceAll(outcome, " ", "_")).Inc()
	nriDeliveryWait.WithValues(plugin, event).Update(waited)
	if late {
		nriLateDeliveries.WithValues(plugin, event).Inc()
	}
}

// RecordLateAnswer implements nri.LifecycleMetrics.
func (m *nriMetrics) RecordLateAnswer(plugin, event string, took time.Duration) {
	nriLateAnswers.WithValues(plugin, event).Update(took)
}

// RecordJoin implements nri.LifecycleMetrics.
func (m *nriMetrics) RecordJoin(plugin string, took time.Duration, _, _ int) {
	nriSync.WithValues(plugin).Update(took)
}

// RecordLeave implements nri.LifecycleMetrics.
func (m *nriMetrics) RecordLeave(plugin, reason string) {
	nriDisconnects.WithValues(plugin, reason).Inc()
}

// queueCollector collects how many events wait for each plugin.
type queueCollector struct {
	desc    *prometheus.Desc
	plugins atomic.Pointer[nri.Adaptation]
}

// of sets the adaptation whose plugins are collected.
func (c *queueCollector) of(plugins *nri.Adaptation) { c.plugins.Store(plugins) }

// Describe implements prometheus.Collector.
func (c *queueCollector) Describe(descs chan<- *prometheus.Desc) { descs <- c.desc }

// Collect implements prometheus.Collector. Two connections of a plugin, as during a rolling
// update, count as one. The names of connected plugins thereby stay in use.
func (c *queueCollector) Collect(values chan<- prometheus.Metric) {
	plugins := c.plugins.Load()
	if plugins == nil {
		return
	}
	waiting := map[string]int{}
	for _, p := range plugins.PluginStatus() {
		waiting[namesOfSeries.label(p.Name)] += p.Waiting
	}
	for name, n := range waiting {
		values <- prometheus.MustNewConstMetric(c.desc, prometheus.GaugeValue, float64(n), name)
	}
}
