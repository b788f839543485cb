// SPDX-License-Identifier: Apache-2.0

// Package statusoutsidelock is one pull request. Its text is pull.md.
package statusoutsidelock

import "github.com/hookline-nri/hookline/internal/edit"

// Group has the patches in their order.
var Group = edit.Group{
	Folder:  "patches/core/status-outside-lock",
	Core:    true,
	Patches: []edit.Patch{StatusOutsideLock},
}
