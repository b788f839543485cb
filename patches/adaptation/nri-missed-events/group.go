// SPDX-License-Identifier: Apache-2.0

// Package nrimissedevents is one pull request. Its text is pull.md.
package nrimissedevents

import "github.com/hookline-nri/hookline/internal/edit"

// Group has the patches in their order.
var Group = edit.Group{
	Folder:  "patches/adaptation/nri-missed-events",
	Patches: []edit.Patch{MissedEvents, CreationJournal},
}
