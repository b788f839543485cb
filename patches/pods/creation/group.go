// SPDX-License-Identifier: Apache-2.0

// Package creation is one pull request. Its text is pull.md.
package creation

import "github.com/hookline-nri/hookline/internal/edit"

// Group has the patches in their order.
var Group = edit.Group{
	Folder: "patches/pods/creation",
	Patches: []edit.Patch{
		PodsBeingCreated,
		HookLast,
		HiddenUntilReady,
	},
}

// creationFile is a file that pods-being-created brings.
const creationFile = "internal/cri/store/sandbox/creation.go"
