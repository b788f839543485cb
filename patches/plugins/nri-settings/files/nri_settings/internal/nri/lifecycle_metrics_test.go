// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
)

// Each record has the name of the metric that dashboards use.
func TestLifecycleMetrics(t *testing.T) {
	m := &nriMetrics{}
	m.RecordDelivery("10-seen", "StopPodSandbox", "answered", time.Second, time.Second, true)
	m.RecordLateAnswer("10-seen", "StopPodSandbox", time.Second)
	m.RecordJoin("10-seen", time.Second, 1, 1)
	m.RecordLeave("10-seen", "closed")

	for _, name := range []string{
		"containerd_nri_plugin_deliveries_total",
		"containerd_nri_plugin_delivery_wait_seconds",
		"containerd_nri_plugin_late_deliveries_total",
		"containerd_nri_plugin_late_answer_seconds",
		"containerd_nri_plugin_sync_seconds",
		"containerd_nri_plugin_disconnects_total",
	} {
		require.Contains(t, metricsOf(t, "10-seen"), name)
	}
}

// The length of queues is read from the current plugins.
func TestQueueMetrics(t *testing.T) {
	require.Contains(t, queues.desc.String(), "\"containerd_nri_plugin_queue_length\"")
	cfg := DefaultConfig()
	cfg.DefaultValidator.Enable = true // a plugin without a connection
	cfg.PluginPath, cfg.DisableConnections = t.TempDir(), true
	l, err := New(cfg, nil)
	require.NoError(t, err)
	require.NoError(t, l.Start())
	defer l.Stop()
	require.Contains(t, metricsOf(t, "00-default-validator"), "containerd_nri_plugin_queue_length")
}

// metricsOf names the metrics that have a plugin as a label.
func metricsOf(t *testing.T, plugin string) []string {
	t.Helper()
	families, err := prometheus.DefaultGatherer.Gather()
	require.NoError(t, err)
	var names []string
	for _, f := range families {
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				if l.GetName() == "plugin" && l.GetValue() == plugin {
					names = append(names, f.GetName())
				}
			}
		}
	}
	return names
}
