// SPDX-License-Identifier: Apache-2.0

package server

import "github.com/docker/go-metrics"

var (
	networkKeptDetaches metrics.Counter
	networkLetGo        metrics.Counter
)

func init() {
	ns := metrics.NewNamespace("containerd", "cri_network", nil)

	networkKeptDetaches = ns.NewCounter("kept_detaches", "Number of attachments whose CNI DEL ran with the configuration kept of their ADD, as it is not loaded any more")
	networkLetGo = ns.NewCounter("let_go", "Number of pods that were let go although something of their network may have leaked")

	metrics.Register(ns)
}
