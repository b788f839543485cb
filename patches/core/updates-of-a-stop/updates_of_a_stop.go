// SPDX-License-Identifier: Apache-2.0

package updatesofastop

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/containerd"
)

// UpdatesOfAStop applies the updates of a StopContainer that another plugin failed.
var UpdatesOfAStop = edit.Patch{
	Slug:    "updates-of-a-stop",
	Module:  "containerd",
	Subject: "nri: apply the updates of a stop that a plugin failed",
	Body: `Plugins may ask for updates of other containers when one stops, for example to
give them its CPUs. If one plugin fails the stop, containerd drops the updates
of the others: these plugins assume the new state, and the node has the old one.

Apply the updates that come with the error. The released NRI returns none, since
it calls no plugin after the first that fails. It will once it calls all.`,
	Refs:   []string{"containerd/nri#286"},
	Rules:  []string{"L9"},
	Status: edit.Upstream,
	Until:  "containerd applies the updates that come with the error of a StopContainer",
	Needs:  []string{"nri/teardown-reaches-all", "containerd/patched-nri"},
	Edits: []edit.Edit{
		containerd.Local("stopContainer").Replace(edit.Stmt(edit.Define("response", "err")), `response, stopErr := l.nri.StopContainer(ctx, request)`),
		containerd.Local("stopContainer").Delete(edit.Stmt(edit.All(edit.If("err != nil"), edit.Has(edit.Return("err"))))),
		containerd.Local("stopContainer").Replace(edit.Stmt(edit.Assign("_", "err")).And(2), `if _, err := l.applyUpdates(ctx, response.GetUpdate()); err != nil {
	log.G(ctx).WithError(err).Warnf("failed to apply the updates that NRI plugins asked for when container %s stopped", ctr.GetID())
}
return stopErr`),
	},
}
