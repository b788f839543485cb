// SPDX-License-Identifier: Apache-2.0

// Package networkbesidepause is one pull request. Its text is pull.md.
package networkbesidepause

import "github.com/hookline-nri/hookline/internal/edit"

// Group has the patches in their order.
var Group = edit.Group{
	Folder:  "patches/network/network-beside-pause",
	Patches: []edit.Patch{NetworkBesidePause},
}
