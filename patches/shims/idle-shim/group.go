// SPDX-License-Identifier: Apache-2.0

// Package idleshim is one pull request. Its text is pull.md.
package idleshim

import "github.com/hookline-nri/hookline/internal/edit"

// Group has the patches in their order.
var Group = edit.Group{
	Folder:  "patches/shims/idle-shim",
	Patches: []edit.Patch{IdleShim},
}
