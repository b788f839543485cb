// SPDX-License-Identifier: Apache-2.0

// Package stoppedtask is one pull request. Its text is pull.md.
package stoppedtask

import "github.com/hookline-nri/hookline/internal/edit"

// Group has the patches in their order.
var Group = edit.Group{
	Folder:  "patches/shims/stopped-task",
	Patches: []edit.Patch{StoppedTask},
}
