// SPDX-License-Identifier: Apache-2.0

// Package nriwithoutlock is one pull request. Its text is pull.md.
package nriwithoutlock

import "github.com/hookline-nri/hookline/internal/edit"

// Group has the patches in their order.
var Group = edit.Group{
	Folder:  "patches/plugins/nri-without-lock",
	Patches: []edit.Patch{NRIWithoutLock},
}
