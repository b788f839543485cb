// SPDX-License-Identifier: Apache-2.0

// Package waitbeforehook is one pull request. Its text is pull.md.
package waitbeforehook

import "github.com/hookline-nri/hookline/internal/edit"

// Group has the patches in their order.
var Group = edit.Group{
	Folder:  "patches/core/wait-before-hook",
	Core:    true,
	Patches: []edit.Patch{WaitBeforeHook},
}
