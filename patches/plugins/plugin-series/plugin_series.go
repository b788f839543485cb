// SPDX-License-Identifier: Apache-2.0

package pluginseries

import "github.com/hookline-nri/hookline/internal/edit"

// PluginSeries bounds the series of metrics that have a plugin's name as a label.
var PluginSeries = edit.Patch{
	Slug:    "plugin-series",
	Module:  "containerd",
	Subject: "nri: bound the series of metrics by the names of plugins",
	Body: `Each name under which an NRI plugin ever registered keeps its metric
series until containerd restarts. Plugins that carry the name of their
pod add series at each rollout, and any process that can connect to
NRI's socket can add any number of them.

Keep the series of 64 names. A new name takes the place of the name that
was recorded longest ago, if that was ten minutes ago or more, and the
series of the old name are deleted. Until a place is free, the new name
is counted as "other". A plugin that crashes and comes back keeps its
counters, because a kubelet restarts it after five minutes at most. A
burst of new names takes no place from plugins that are in use.

Metrics, labels and units do not change.`,
	Rules:  []string{"L17", "L22"},
	Status: edit.Upstream,
	Until:  "containerd bounds the series of NRI's metrics",
	Edits: []edit.Edit{
		edit.In(nriMetrics, edit.Var("nriPluginLatency")).Drop(),
		edit.In(nriMetrics, edit.Func("init")).Replace(edit.Expr(`metrics.NewNamespace("containerd", "nri", nil)`), `byPlugin(metrics.NewNamespace("containerd", "nri", nil))`),
		edit.In(nriMetrics, edit.Func("init")).Replace(edit.Expr("metrics.Register(ns)"), "metrics.Register(ns.Namespace)"),
	},
}

const nriMetrics = "internal/nri/metrics.go"
