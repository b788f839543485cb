// SPDX-License-Identifier: Apache-2.0

package hungshims

import "github.com/hookline-nri/hookline/internal/edit"

// MetricsPastHungShims lets a shim that hangs withhold no metrics of other tasks.
var MetricsPastHungShims = edit.Patch{
	Slug:    "metrics-past-hung-shims",
	Module:  "containerd",
	Subject: "tasks: do not wait for the metrics of a shim that hangs",
	Body: `The metrics of tasks are read one task after the other, for as long as
the caller waits. One shim that hangs withholds those of all tasks that
follow. CRI's collector has no limit of time, so it takes no sample of
any container any more, and the kubelet's requests for the statistics of
all pods fail.

Let the metrics of a task take no longer than they may for Prometheus
(io.containerd.timeout.metrics.shimstats, two seconds). A task that is
too slow is left out of the answer, as one is whose shim fails.`,
	Refs:   []string{"containerd/containerd#13877", "containerd/containerd#13848", "containerd/containerd#6362"},
	Rules:  []string{"L22"},
	Status: edit.Upstream,
	Until:  "one shim that hangs does not withhold the metrics of other tasks",
	Edits: []edit.Edit{
		edit.In("plugins/services/tasks/local.go", edit.Func("getTasksMetrics")).Replace(edit.Expr("tk.Stats(ctx)"), "statsInTime(ctx, tk)"),
	},
}
