// SPDX-License-Identifier: Apache-2.0

// Package endsafterrestart is one pull request. Its text is pull.md.
package endsafterrestart

import "github.com/hookline-nri/hookline/internal/edit"

// Group has the patches in their order.
var Group = edit.Group{
	Folder:  "patches/core/ends-after-restart",
	Core:    true,
	Patches: []edit.Patch{EndsAfterRestart},
}
