// SPDX-License-Identifier: Apache-2.0

// Package awaitplugins is one pull request. Its text is pull.md.
package awaitplugins

import "github.com/hookline-nri/hookline/internal/edit"

// Group has the patches in their order.
var Group = edit.Group{
	Folder:  "patches/plugins/await-plugins",
	Patches: []edit.Patch{AwaitPlugins},
}
