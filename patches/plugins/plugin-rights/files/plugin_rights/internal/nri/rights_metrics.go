// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"cmp"

	"github.com/docker/go-metrics"

	nri "github.com/containerd/nri/pkg/adaptation"
)

var nriMissingRights metrics.LabeledCounter

func init() {
	ns := metrics.NewNamespace("containerd", "nri", nil)
	nriMissingRights = ns.NewLabeledCounter("plugin_missing_rights", "Subscriptions, adjustments, updates and evictions that were rejected because the plugin has no right to them, by the name in the settings that limits it, or other for plugin_rights; and by right: an event as events.RunPodSandbox, a field as adjust.mounts, update or evict", "plugin", "right")
	metrics.Register(ns)
}

var _ nri.RightsMetrics = (*nriMetrics)(nil)

// RecordMissingRight implements nri.RightsMetrics. The names of the settings bound the series,
// not those of plugins.
func (m *nriMetrics) RecordMissingRight(plugin, right string) {
	nriMissingRights.WithValues(cmp.Or(plugin, otherNames), right).Inc()
}
