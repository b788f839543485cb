// SPDX-License-Identifier: Apache-2.0

package nri

import "github.com/docker/go-metrics"

var nriPluginsOff metrics.Gauge

func init() {
	ns := metrics.NewNamespace("containerd", "nri", nil)
	nriPluginsOff = ns.NewGauge("plugins_off", "NRI plugins that an operator has turned off, with ctr nri off", metrics.Unit(""))
	metrics.Register(ns)
}
