// SPDX-License-Identifier: Apache-2.0

package nristatus

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/containerd"
)

// NRIStatus shows which plugin a pod that does not start waits for.
var NRIStatus = edit.Patch{
	Slug:    "nri-status",
	Module:  "containerd",
	Subject: "cri,nri: show plugins and pods being created in status",
	Body: `When pods do not start because an NRI plugin does not answer, nothing shows
which plugin it is, or that it is a plugin at all: neither pods being created
nor plugins are in any list.

Add an entry "nri" to CRI's verbose Status, which "crictl info" shows. It lists
the plugins, with pid, subscriptions, failure policy, the current event and its
start, the number of events that wait and the last error; and the pods being
created, with the plugin that each waits for. It does not wait for any plugin.

Only the verbose Status of CRI differs, which crictl info asks for.`,
	Refs:   []string{"containerd/nri#286", "containerd/nri#304", "containerd/containerd#14083"},
	Rules:  []string{"L17"},
	Status: edit.Upstream,
	Until:  "CRI's verbose status shows NRI plugins and their current events",
	Needs:  []string{"nri/waits", "containerd/patched-nri", "containerd/pods-being-created"},
	Edits: []edit.Edit{
		edit.In(containerd.LocalNRI, edit.Type("API")).AddField(`
// Status returns the status of NRI and its plugins.
Status() Status`),
		containerd.Status.Before(
			edit.Stmt(edit.Define("defaultStatus")), `nriStatus, err := json.Marshal(c.nri.Status())
if err != nil {
	return nil, err
}
resp.Info["nri"] = string(nriStatus)
`),
	},
}
