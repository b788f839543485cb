// SPDX-License-Identifier: Apache-2.0

// Package events is one pull request. Its text is pull.md.
package events

import "github.com/hookline-nri/hookline/internal/edit"

// Group has the patches in their order.
var Group = edit.Group{
	Folder:  "patches/pods/events",
	Patches: []edit.Patch{EventsAfterTheFact},
}
