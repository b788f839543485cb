// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"github.com/docker/go-metrics"

	nri "github.com/containerd/nri/pkg/adaptation"
)

var nriMissingRights metrics.LabeledCounter

func init() {
	ns := byPlugin(metrics.NewNamespace("containerd", "nri", nil))
	nriMissingRights = ns.NewLabeledCounter("plugin_missing_rights", "Subscriptions, adjustments, updates and evictions that were rejected because the plugin has no right to them, by right: an event as events.RunPodSandbox, a field as adjust.mounts, update or evict", "plugin", "right")
	metrics.Register(ns.Namespace)
}

var _ nri.RightsMetrics = (*nriMetrics)(nil)

// RecordMissingRight implements nri.RightsMetrics.
func (m *nriMetrics) RecordMissingRight(plugin, right string) {
	nriMissingRights.WithValues(plugin, right).Inc()
}
