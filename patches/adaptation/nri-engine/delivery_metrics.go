// SPDX-License-Identifier: Apache-2.0

package nriengine

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/nri"
)

// DeliveryMetrics reports to runtimes how each event reaches each plugin.
var DeliveryMetrics = edit.Patch{
	Slug:    "delivery-metrics",
	Module:  "nri",
	Subject: "adaptation: report to runtimes how events reach plugins",
	Body: `The metrics of a plugin show how long its calls took, but not how long an event
waited for the plugin's earlier events, whether it came late or was skipped, or
why a plugin left.

Let the value that runtimes pass to WithMetrics have methods for that, too
(LifecycleMetrics), and one for spans that receives the context of each request
(LifecycleTracer). Runtimes that implement neither see no difference.`,
	Refs:   []string{"containerd/nri#286", "containerd/nri#304"},
	Rules:  []string{"L17"},
	Status: edit.Upstream,
	Until:  "NRI's metrics separate the wait for a plugin from its work, and show why a plugin left",
	Needs:  []string{"nri/adaptation-engine"},
	Edits: []edit.Edit{
		edit.In(nri.PluginsFile, edit.Method("observer", "Delivered")).After(edit.Stmt(edit.If("late")), `if m := o.r.lifecycleMetrics(); m != nil {
	m.RecordDelivery(d.Conn.Name(), d.Event.Kind.String(), d.Outcome.String(), d.Waited, d.Took, d.Late)
}
if t, wanted := o.r.metrics.(LifecycleTracer); wanted {
	t.TraceDelivery(d.Context, traceOf(d))
}`),
		edit.In(nri.PluginsFile, edit.Method("observer", "Recovered")).After(edit.Stmt(edit.Call("log.Warnf")), `if m := o.r.lifecycleMetrics(); m != nil {
	m.RecordLateAnswer(conn.Name(), ev.Kind.String(), took)
}`),
		edit.In(nri.PluginsFile, edit.Method("observer", "Joined")).After(edit.Stmt(edit.Call("o.r.metrics.UpdatePluginCount")), `if m := o.r.lifecycleMetrics(); m != nil {
	m.RecordJoin(conn.Name(), took, pods, containers)
}`),
		edit.In(nri.PluginsFile, edit.Method("observer", "Left")).After(edit.Stmt(edit.Call("o.r.dismiss")), `if m := o.r.lifecycleMetrics(); m != nil {
	m.RecordLeave(p.name(), leaveReason(reason))
}`),
	},
}
