// SPDX-License-Identifier: Apache-2.0

package nriacknowledge

import "github.com/hookline-nri/hookline/internal/edit"

// ProtoAcknowledge proposes a field of updates for NRI's API.
var ProtoAcknowledge = edit.Patch{
	Slug:    "proto-acknowledge",
	Module:  "nri",
	Subject: "api: propose that updates can be acknowledged",
	Body: `A plugin that asks for updates of other containers in a reply does not learn
which of them held. It can neither forget an update nor ask for it again.

Propose a field of ContainerUpdate with which the plugin asks for an answer.
Runtimes that do not know the field ignore it.
This adds the field alone: "make proto" must follow once it is agreed.`,
	Refs:     []string{"containers/nri-plugins#809"},
	Status:   edit.Hold,
	Hold:     "a change of NRI's API, which its maintainers have to decide",
	Until:    "NRI's ContainerUpdate can ask to be acknowledged",
	Untested: "a proposal of a field, without generated code",
	Edits: []edit.Edit{
		edit.ProtoField("pkg/api/api.proto", "ContainerUpdate", "ignore_failure", `// Whether the plugin receives PostUpdateContainer when the update is over, with what the container
// has then.
bool acknowledge = 4;`),
	},
}
