// SPDX-License-Identifier: Apache-2.0

// Package networkdetach is one pull request. Its text is pull.md.
package networkdetach

import "github.com/hookline-nri/hookline/internal/edit"

// Group has the patches in their order.
var Group = edit.Group{
	Folder:  "patches/network/network-detach",
	Patches: []edit.Patch{NetworkDetach, NetworkDetachOnce},
}
