// SPDX-License-Identifier: Apache-2.0

// Package hungshims is one pull request. Its text is pull.md.
package hungshims

import "github.com/hookline-nri/hookline/internal/edit"

// Group has the patches in their order.
var Group = edit.Group{
	Folder:  "patches/shims/hung-shims",
	Patches: []edit.Patch{ListPastHungShims, StatusDuringUpdate, MetricsPastHungShims},
}
