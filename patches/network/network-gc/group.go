// SPDX-License-Identifier: Apache-2.0

// Package networkgc is one pull request. Its text is pull.md.
package networkgc

import "github.com/hookline-nri/hookline/internal/edit"

// Group has the patches in their order.
var Group = edit.Group{
	Folder:  "patches/network/network-gc",
	Patches: []edit.Patch{NetworkGC},
}
