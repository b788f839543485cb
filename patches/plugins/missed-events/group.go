// SPDX-License-Identifier: Apache-2.0

// Package missedevents is one pull request. Its text is pull.md.
package missedevents

import "github.com/hookline-nri/hookline/internal/edit"

// Group has the patches in their order.
var Group = edit.Group{
	Folder: "patches/plugins/missed-events",
	Patches: []edit.Patch{
		MissedStore,
		MissedEvents,
		CreationJournal,
	},
}
