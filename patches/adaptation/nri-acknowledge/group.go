// SPDX-License-Identifier: Apache-2.0

// Package nriacknowledge is one pull request. Its text is pull.md.
package nriacknowledge

import "github.com/hookline-nri/hookline/internal/edit"

// Group has the patches in their order.
var Group = edit.Group{
	Folder:  "patches/adaptation/nri-acknowledge",
	Patches: []edit.Patch{ProtoAcknowledge, AcknowledgedUpdates},
}
