// SPDX-License-Identifier: Apache-2.0

// Package cnistatusmonitor is one pull request. Its text is pull.md.
package cnistatusmonitor

import "github.com/hookline-nri/hookline/internal/edit"

// Group has the patches in their order.
var Group = edit.Group{
	Folder:  "patches/network/cni-status-monitor",
	Patches: []edit.Patch{NetworkStates, NetworkMonitor},
}
