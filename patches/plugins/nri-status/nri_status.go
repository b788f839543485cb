// SPDX-License-Identifier: Apache-2.0

package nristatus

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/containerd"
)

// NRIStatus shows the plugin that a pod being created waits for.
var NRIStatus = edit.Patch{
	Slug:    "nri-status",
	Module:  "containerd",
	Subject: "cri,nri: show plugins and pods being created in status",
	Body: `When pods do not start because an NRI plugin does not answer, nothing
shows which plugin it is, or that a plugin is the cause. No list has the
pods being created, and none has the plugins.

Add an entry "nri" to CRI's verbose Status, which "crictl info" shows.
It lists the plugins, each with its pid, subscriptions, failure policy,
current event and its start, the number of events that wait, and the
last error. It also lists the pods being created, each with the plugin
that it waits for. The status does not wait for any plugin.

Only the verbose Status of CRI changes, which "crictl info" requests.`,
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
