// SPDX-License-Identifier: Apache-2.0

package updatesofastop

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/containerd"
)

// UpdatesOfAStop applies what plugins ask for in a StopContainer though another one failed.
var UpdatesOfAStop = edit.Patch{
	Slug:    "updates-of-a-stop",
	Module:  "containerd",
	Subject: "nri: apply the updates of a stop that a plugin failed",
	Body: `Plugins may ask for updates of other containers when one stops, for its CPUs for
instance. If one plugin fails the stop, what the others ask for is dropped:
they have the new state in their books, and the node has the old one.

Apply what came with the error. With NRI as released nothing does, since it asks
no plugin after the first that fails. Once it asks them all, it does.`,
	Refs:   []string{"containerd/nri#286"},
	Rules:  []string{"L9"},
	Status: edit.Upstream,
	Until:  "containerd applies the updates that come with the error of a StopContainer",
	Needs:  []string{"nri/teardown-reaches-all", "containerd/patched-nri"},
	Edits: []edit.Edit{
		containerd.Local("stopContainer").Replace(edit.Stmt(edit.Define("response", "err")), `response, stopErr := l.nri.StopContainer(ctx, request)`),
		containerd.Local("stopContainer").Delete(edit.Stmt(edit.All(edit.If("err != nil"), edit.Has(edit.Return("err"))))),
		containerd.Local("stopContainer").Replace(edit.Stmt(edit.Assign("_", "err")).And(2), `if _, err := l.applyUpdates(ctx, response.GetUpdate()); err != nil {
	log.G(ctx).WithError(err).Warnf("failed to apply what NRI plugins asked for when container %s stopped", ctr.GetID())
}
return stopErr`),
	},
}
