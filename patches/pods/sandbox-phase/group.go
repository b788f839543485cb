// SPDX-License-Identifier: Apache-2.0

// Package sandboxphase is one pull request. Its text is pull.md.
package sandboxphase

import "github.com/hookline-nri/hookline/internal/edit"

// Group has the patches in their order.
var Group = edit.Group{
	Folder:  "patches/pods/sandbox-phase",
	Patches: []edit.Patch{SandboxPhase, StartAgainstStop},
}
