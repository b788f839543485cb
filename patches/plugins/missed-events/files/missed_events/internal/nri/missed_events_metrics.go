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

	// unheard reads how many ends are owed when metrics are collected.
	unheard = &unheardCollector{}
)

func init() {
	ns := byPlugin(metrics.NewNamespace("containerd", "nri", nil))

	nriMissedEvents = ns.NewLabeledCounter("plugin_missed_events", "Stops and removals that an NRI plugin was disconnected for, or has not answered, and that are kept until it is back", "plugin", "operation")
	nriMissedEventsDelivered = ns.NewLabeledCounter("plugin_missed_events_delivered", "Stops and removals that an NRI plugin was told when it was back, by outcome as of plugin_deliveries", "plugin", "operation", "outcome")
	nriMissedEventsDropped = ns.NewLabeledCounter("plugin_missed_events_dropped", "Stops and removals that an NRI plugin will not be told, by reason: age or limit (it was disconnected for too long, or missed too many), or forgotten (an operator had it forgotten)", "plugin", "reason")
	nriMissedEventsStoreFailures = ns.NewCounter("missed_events_store_failures", "Failures to read or write the file of what NRI plugins are owed, which is in memory alone until it can be written")

	unheard.ends = ns.NewDesc("plugin_missed_events_kept", "Stops and removals that are kept for an NRI plugin now", "", "plugin")
	unheard.bytes = ns.NewDesc("missed_events_bytes", "Bytes that are kept for NRI plugins now, of missed_events_bytes", "")
	ns.Add(unheard)

	metrics.Register(ns.Namespace)
}

var _ nri.MissedEventsMetrics = (*nriMetrics)(nil)

// RecordMissedEvent implements nri.MissedEventsMetrics.
func (m *nriMetrics) RecordMissedEvent(plugin, event, outcome string) {
	nriMissedEventsDelivered.WithValues(plugin, event, strings.ReplaceAll(outcome, " ", "_")).Inc()
}

// unheardCollector collects how many ends each plugin is owed, of those that are owed any
// or are disconnected, and what that takes.
type unheardCollector struct {
	ends, bytes *prometheus.Desc
	store       atomic.Pointer[missed.Store]
}

// of sets what is collected from.
func (c *unheardCollector) of(store *missed.Store) { c.store.Store(store) }

// Describe implements prometheus.Collector.
func (c *unheardCollector) Describe(descs chan<- *prometheus.Desc) {
	descs <- c.ends
	descs <- c.bytes
}

// Collect implements prometheus.Collector.
func (c *unheardCollector) Collect(values chan<- prometheus.Metric) {
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
		case !p.Disconnected.IsZero(): // which may be so for long, of any name
			ends[namesOfSeries.labelUnused(name)] += 0
		}
	}
	for name, n := range ends {
		values <- prometheus.MustNewConstMetric(c.ends, prometheus.GaugeValue, float64(n), name)
	}
}
