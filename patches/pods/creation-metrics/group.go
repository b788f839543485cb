// SPDX-License-Identifier: Apache-2.0

// Package creationmetrics is one pull request. Its text is pull.md.
package creationmetrics

import "github.com/hookline-nri/hookline/internal/edit"

// Group has the patches in their order.
var Group = edit.Group{
	Folder:  "patches/pods/creation-metrics",
	Patches: []edit.Patch{CreationMetrics},
}
