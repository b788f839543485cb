// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"strings"
	"sync/atomic"

	"github.com/docker/go-metrics"
	"github.com/prometheus/client_golang/prometheus"

	nri "github.com/containerd/nri/pkg/adaptation"

	"github.com/hookline-nri/hookline/internal/nri/owed"
)

var (
	nriEndsOwed          metrics.LabeledCounter
	nriEndsToldOnReturn  metrics.LabeledCounter
	nriEndsDropped       metrics.LabeledCounter
	nriOwedStoreFailures metrics.Counter

	// unheard reads how many ends are owed when metrics are collected.
	unheard = &unheardCollector{}
)

func init() {
	ns := byPlugin(metrics.NewNamespace("containerd", "nri", nil))

	nriEndsOwed = ns.NewLabeledCounter("plugin_ends_owed", "Stops and removals that an NRI plugin was away for, or has not answered, and that are kept until it is back", "plugin", "operation")
	nriEndsToldOnReturn = ns.NewLabeledCounter("plugin_ends_told_on_return", "Stops and removals that an NRI plugin was told when it was back, by outcome as of plugin_deliveries", "plugin", "operation", "outcome")
	nriEndsDropped = ns.NewLabeledCounter("plugin_ends_dropped", "Stops and removals that an NRI plugin will not be told, by reason: age or limit (it was away for too long, or missed too many), or forgotten (an operator had it forgotten)", "plugin", "reason")
	nriOwedStoreFailures = ns.NewCounter("owed_store_failures", "Failures to read or write the file of what NRI plugins are owed, which is in memory alone until it can be written")

	unheard.ends = ns.NewDesc("plugin_ends_unheard", "Stops and removals that are kept for an NRI plugin now", "", "plugin")
	unheard.bytes = ns.NewDesc("owed_bytes", "Bytes that are kept for NRI plugins now, of owed_ends_bytes", "")
	ns.Add(unheard)

	metrics.Register(ns.Namespace)
}

var _ nri.OwedMetrics = (*nriMetrics)(nil)

// RecordOwedEnd implements nri.OwedMetrics.
func (m *nriMetrics) RecordOwedEnd(plugin, event, outcome string) {
	nriEndsToldOnReturn.WithValues(plugin, event, strings.ReplaceAll(outcome, " ", "_")).Inc()
}

// unheardCollector collects how many ends each plugin is owed, of those that are owed any
// or are away, and what that takes.
type unheardCollector struct {
	ends, bytes *prometheus.Desc
	store       atomic.Pointer[owed.Store]
}

// of sets what is collected from.
func (c *unheardCollector) of(store *owed.Store) { c.store.Store(store) }

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
		case p.Owed > 0:
			ends[namesOfSeries.label(name)] += p.Owed
		case !p.Away.IsZero(): // which may be so for long, of any name
			ends[namesOfSeries.labelUnused(name)] += 0
		}
	}
	for name, n := range ends {
		values <- prometheus.MustNewConstMetric(c.ends, prometheus.GaugeValue, float64(n), name)
	}
}
