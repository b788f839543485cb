// SPDX-License-Identifier: Apache-2.0

package nriacknowledge

import (
	"github.com/hookline-nri/hookline/internal/edit"
)

const (
	changes = "pkg/adaptation/changes.go"
	places  = "pkg/adaptation/places.go"
)

// AcknowledgedUpdates tells a plugin what a container has after an update that the plugin asked for.
var AcknowledgedUpdates = edit.Patch{
	Slug:    "acknowledged-updates",
	Module:  "nri",
	Subject: "adaptation: acknowledge the updates that plugins ask for",
	Body: `A plugin may ask for updates of other containers in a reply. The runtime
applies them after that, or drops them because the request has failed.
Either way the plugin hears nothing: only UpdateContainers has an answer.
A policy that forgets such an update keeps a container where another one
is, and one that does not forget it asks for it for ever.

Let a plugin ask for an acknowledgement of an update. When the update is
over it receives PostUpdateContainer, as after an update by the kubelet,
with what the container has then. It finds there whether the update held.
Nothing else follows from the event: it has no answer.

The runtime is asked for the content when the plugin receives the event
(WithLookup), and not while another update of the container is under way.
So is PostUpdateContainer after an update by the runtime, whose own
content may be older than an acknowledgement.
A runtime without it, or without WithOrderedUpdates, acknowledges
nothing. The field of the update is provisional.`,
	Refs:   []string{"containers/nri-plugins#809"},
	Rules:  []string{"L27"},
	Status: edit.Hold,
	Hold:   "NRI's ContainerUpdate has no such field: it is proposed in nri/proto-acknowledge",
	Until:  "NRI's ContainerUpdate can ask to be acknowledged",
	Needs:  []string{"nri/proto-acknowledge", "nri/refused-updates"},
	Edits: []edit.Edit{
		edit.In(changes, edit.Method("Adaptation", "change")).Replace(edit.Stmt(edit.Call("p.changes.add")), `p.changes.add(func() {
	r.applyAsked(p, asked, updates)
	p.acknowledge(updates)
})`),
		edit.In(changes, edit.Method("plugin", "UpdateContainers")).Before(edit.Stmt(edit.Mentions("result{failed, err}")), `p.acknowledge(req.Update)
`),
		edit.In(changes, edit.Method("Adaptation", "unheard")).After(edit.Stmt(edit.Mentions("ofOthers(reply.GetUpdate(), ev.Container)")), `conn.(connection).dropped(reply.GetUpdate(), ev.Container)`),
		edit.In("pkg/adaptation/connection.go", edit.Method("connection", "relayWithin")).Before(edit.Top(), `ev = c.r.afresh(ev)
`),
		edit.In(places, edit.Method("places", "take")).Before(edit.Stmt(edit.If("p.over || !of.r.ordered")), `acknowledge := func() { of.acknowledge(updates) }
if p.over && p.fails {
	of.changes.add(acknowledge)
}
`),
		edit.In(places, edit.Method("places", "take")).After(edit.Stmt(edit.Mentions("of.changes.add(at.apply)")), `of.changes.add(acknowledge)`),
		edit.In("pkg/adaptation/refused_updates.go", edit.Func("whatHolds")).Before(edit.Top(), `if kind == lifecycle.PostUpdateContainer {
	return &PostUpdateContainerRequest{Pod: pod, Container: ctr}
}
`),
	},
	Packages: []edit.Package{{
		From: "updates/internal/nri/acknowledge",
		To:   "internal/acknowledge",
	}},
}
