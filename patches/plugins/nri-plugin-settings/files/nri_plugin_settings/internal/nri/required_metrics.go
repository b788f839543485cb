// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"time"

	"github.com/docker/go-metrics"

	nri "github.com/containerd/nri/pkg/adaptation"
)

var (
	nriRequiredWait     metrics.LabeledTimer
	nriRequiredRefusals metrics.LabeledCounter
)

func init() {
	ns := metrics.NewNamespace("containerd", "nri", nil)

	nriRequiredWait = ns.NewLabeledTimer("required_plugin_wait", "Time that pods and containers waited for a required NRI plugin that was away, whether it came or not; plugin is annotation for those that pods require by themselves", "plugin", "operation")
	nriRequiredRefusals = ns.NewLabeledCounter("required_plugin_refusals", "Pods and containers that were refused for want of a required NRI plugin, by reason: away, or unanswered (it was there and did not answer)", "plugin", "operation", "reason")

	metrics.Register(ns)
}

var _ nri.RequiredMetrics = (*nriMetrics)(nil)

// RecordRequiredWait implements nri.RequiredMetrics.
func (m *nriMetrics) RecordRequiredWait(plugin, event string, waited time.Duration) {
	nriRequiredWait.WithValues(plugin, event).Update(waited)
}

// RecordRequiredRefusal implements nri.RequiredMetrics.
func (m *nriMetrics) RecordRequiredRefusal(plugin, event, reason string) {
	nriRequiredRefusals.WithValues(plugin, event, reason).Inc()
}
