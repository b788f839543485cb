// SPDX-License-Identifier: Apache-2.0

package containerd

import "github.com/hookline-nri/hookline/internal/edit"

// NRIStatus shows an operator which plugin a stuck node waits for.
var NRIStatus = edit.Patch{
	Slug:    "nri-status",
	Module:  "containerd",
	Subject: "cri,nri: show plugins and pods in creation in status",
	Body: `When pods do not come up because an NRI plugin does not answer, nothing shows
which one, or that it is one at all: a pod in its creation is in no list, and
plugins are in none.

Add an entry "nri" to what Status says when asked to be verbose, which
"crictl info" shows. It has the plugins, with pid, subscriptions, failure
policy, what they are at and since when, how many events wait for them and
their last error; and the pods in creation, with the plugin that each waits for.
To ask for it waits for no plugin.`,
	Refs:   []string{"containerd/nri#286", "containerd/nri#304", "containerd/containerd#14083"},
	Rules:  []string{"L17"},
	Status: edit.Upstream,
	Until:  "CRI's verbose status shows NRI plugins and what they are at",
	Edits: []edit.Edit{
		edit.In(localNRI, edit.Type("API")).AddField(`
// Status returns how NRI and its plugins are doing.
Status() Status`),
		status.Before(
			edit.Stmt(edit.Define("defaultStatus")), `nriStatus, err := json.Marshal(c.nri.Status())
if err != nil {
	return nil, err
}
resp.Info["nri"] = string(nriStatus)
`),
	},
}
