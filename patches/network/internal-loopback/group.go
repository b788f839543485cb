// SPDX-License-Identifier: Apache-2.0

// Package internalloopback is one pull request. Its text is pull.md.
package internalloopback

import "github.com/hookline-nri/hookline/internal/edit"

// Group has the patches in their order.
var Group = edit.Group{
	Folder:  "patches/network/internal-loopback",
	Patches: []edit.Patch{InternalLoopback},
}
