// SPDX-License-Identifier: Apache-2.0

// Package nriregisterbounds is one pull request. Its text is pull.md.
package nriregisterbounds

import "github.com/hookline-nri/hookline/internal/edit"

// Group has the patches in their order.
var Group = edit.Group{
	Folder:  "patches/adaptation/nri-register-bounds",
	Patches: []edit.Patch{RegisterBounds},
}
