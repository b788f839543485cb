// SPDX-License-Identifier: Apache-2.0

package pluginseries

import "github.com/hookline-nri/hookline/internal/edit"

// PluginSeries bounds the metrics that have a plugin's name.
var PluginSeries = edit.Patch{
	Slug:    "plugin-series",
	Module:  "containerd",
	Subject: "nri: bound the series of metrics by the names of plugins",
	Body: `The metrics of NRI have the name of a plugin as a label. Each name that
ever registered has its series until containerd is started again.
Plugins with the name of their pod in theirs add some at each rollout,
and any process that can connect to NRI's socket makes as many as it
likes.

Keep the series of 64 names. One more takes the place of the name for
which nothing was recorded for longest, if that is ten minutes, and the
series of that name go. Until there is one it is counted as "other". So
a plugin that crashes and comes back keeps its counters: a kubelet
starts it again after five minutes at most. And a burst of names takes
nothing from plugins that are in use.

Metrics, labels and units are as they were.`,
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
