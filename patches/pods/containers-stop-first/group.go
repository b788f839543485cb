// SPDX-License-Identifier: Apache-2.0

// Package containersstopfirst is one pull request. Its text is pull.md.
package containersstopfirst

import "github.com/hookline-nri/hookline/internal/edit"

// Group has the patches in their order.
var Group = edit.Group{
	Folder:  "patches/pods/containers-stop-first",
	Patches: []edit.Patch{ContainersStopFirst},
}
