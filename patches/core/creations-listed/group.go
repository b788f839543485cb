// SPDX-License-Identifier: Apache-2.0

// Package creationslisted is one pull request. Its text is pull.md.
package creationslisted

import "github.com/hookline-nri/hookline/internal/edit"

// Group has the patches in their order.
var Group = edit.Group{
	Folder:  "patches/core/creations-listed",
	Core:    true,
	Patches: []edit.Patch{CreationsListed},
}
