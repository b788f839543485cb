// SPDX-License-Identifier: Apache-2.0

// Package interruptedsnapshot is one pull request. Its text is pull.md.
package interruptedsnapshot

import "github.com/hookline-nri/hookline/internal/edit"

// Group has the patches in their order.
var Group = edit.Group{
	Folder:  "patches/pods/interrupted-snapshot",
	Patches: []edit.Patch{InterruptedSnapshot},
}
