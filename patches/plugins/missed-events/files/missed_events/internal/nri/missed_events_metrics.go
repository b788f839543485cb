// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"strings"
	"sync/atomic"

	"github.com/docker/go-metrics"
	"github.com/prometheus/client_golang/prometheus"

	nri "github.com/containerd/nri/pkg/adaptation"

	"github.com/hookline-nri/hookline/internal/nri/missed"
)

var (
	nriMissedEvents              metrics.LabeledCounter
	nriMissedEventsDelivered     metrics.LabeledCounter
	nriMissedEventsDropped       metrics.LabeledCounter
	nriMissedEventsStoreFailures metrics.Counter

	// keptEvents counts the missed events that are kept when metrics are collected.
	keptEvents = &keptCollector{}
)

func init() {
	ns := byPlugin(metrics.NewNamespace("containerd", "nri", nil))

	nriMissedEvents = ns.NewLabeledCounter("plugin_missed_events", "Stops and removals that an NRI plugin missed, because it was disconnected or has not answered, and that are kept until it is back", "plugin", "operation")
	nriMissedEventsDelivered = ns.NewLabeledCounter("plugin_missed_events_delivered", "Missed stops and removals that were sent to an NRI plugin when it was back, by outcome as of plugin_deliveries", "plugin", "operation", "outcome")
	nriMissedEventsDropped = ns.NewLabeledCounter("plugin_missed_events_dropped", "Missed stops and removals that were dropped and will not be delivered to an NRI plugin, by reason: age (it was disconnected for too long), limit (it missed too many) or forgotten (by an operator)", "plugin", "reason")
	nriMissedEventsStoreFailures = ns.NewCounter("missed_events_store_failures", "Failures to read or write the file of missed events. Until it can be written, they are in memory alone")

	keptEvents.ends = ns.NewDesc("plugin_missed_events_kept", "Missed stops and removals that are kept for an NRI plugin now", "", "plugin")
	keptEvents.bytes = ns.NewDesc("missed_events_bytes", "Bytes of missed events that are kept now. The setting missed_events_bytes is the limit", "")
	ns.Add(keptEvents)

	metrics.Register(ns.Namespace)
}

var _ nri.MissedEventsMetrics = (*nriMetrics)(nil)

// RecordMissedEvent implements nri.MissedEventsMetrics.
func (m *nriMetrics) RecordMissedEvent(plugin, event, outcome string) {
	nriMissedEventsDelivered.WithValues(plugin, event, strings.ReplaceAll(outcome, " ", "_")).Inc()
}

// keptCollector collects how many missed events are kept for each plugin that has some or is
// disconnected, and their bytes.
type keptCollector struct {
	ends, bytes *prometheus.Desc
	store       atomic.Pointer[missed.Store]
}

// of sets the store to collect from.
func (c *keptCollector) of(store *missed.Store) { c.store.Store(store) }

// Describe implements prometheus.Collector.
func (c *keptCollector) Describe(descs chan<- *prometheus.Desc) {
	descs <- c.ends
	descs <- c.bytes
}

// Collect implements prometheus.Collector.
func (c *keptCollector) Collect(values chan<- prometheus.Metric) {
	store := c.store.Load()
	if store == nil {
		return
	}
	values <- prometheus.MustNewConstMetric(c.bytes, prometheus.GaugeValue, float64(store.Bytes()))
	ends := map[string]int{}
	for name, p := range store.Names() {
		switch {
		case p.Missed > 0:
			ends[namesOfSeries.label(name)] += p.Missed
		case !p.Disconnected.IsZero(): // it may stay so for long, and have any name
			ends[namesOfSeries.labelUnused(name)] += 0
		}
	}
	for name, n := range ends {
		values <- prometheus.MustNewConstMetric(c.ends, prometheus.GaugeValue, float64(n), name)
	}
}
