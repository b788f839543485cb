// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"time"

	"github.com/docker/go-metrics"

	nri "github.com/containerd/nri/pkg/adaptation"
)

var (
	nriRequiredWait       metrics.LabeledTimer
	nriRequiredRejections metrics.LabeledCounter
)

func init() {
	ns := metrics.NewNamespace("containerd", "nri", nil)

	nriRequiredWait = ns.NewLabeledTimer("required_plugin_wait", "Time that pods and containers waited for a required NRI plugin that was disconnected, whether it connected or not; plugin is annotation if the pod requires it by an annotation", "plugin", "operation")
	nriRequiredRejections = ns.NewLabeledCounter("required_plugin_rejections", "Pods and containers that were rejected because a required NRI plugin did not answer for them, by reason: disconnected, or unanswered (it was connected)", "plugin", "operation", "reason")

	metrics.Register(ns)
}

var _ nri.RequiredMetrics = (*nriMetrics)(nil)

// RecordRequiredWait implements nri.RequiredMetrics.
func (m *nriMetrics) RecordRequiredWait(plugin, event string, waited time.Duration) {
	nriRequiredWait.WithValues(plugin, event).Update(waited)
}

// RecordRequiredRejection implements nri.RequiredMetrics.
func (m *nriMetrics) RecordRequiredRejection(plugin, event, reason string) {
	nriRequiredRejections.WithValues(plugin, event, reason).Inc()
}
