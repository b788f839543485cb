// SPDX-License-Identifier: Apache-2.0

package nri

import "github.com/docker/go-metrics"

var (
	networkGateClosed      metrics.LabeledGauge
	networkGateTransitions metrics.LabeledCounter
)

func init() {
	ns := metrics.NewNamespace("containerd", "nri", nil)

	networkGateClosed = ns.NewLabeledGauge("network_gate_closed", "1 while NetworkReady is false because a required NRI plugin that gates the network is disconnected, else 0", metrics.Unit(""), "plugin")
	networkGateTransitions = ns.NewLabeledCounter("network_gate_transitions", "Transitions of NetworkReady because of an NRI plugin that gates the network, by the new state: open or closed", "plugin", "to")

	metrics.Register(ns)
}
