// SPDX-License-Identifier: Apache-2.0

// Package nriengine is one pull request. Its text is pull.md.
package nriengine

import "github.com/hookline-nri/hookline/internal/edit"

// Group has the patches in their order.
var Group = edit.Group{
	Folder: "patches/adaptation/nri-engine",
	Patches: []edit.Patch{
		EngineLedger,
		EngineCatchup,
		LifecycleEngine,
		AdaptationEngine,
		OldRelays,
		UnreadPeers,
		DeliveryMetrics,
		SyncBlock,
	},
}

// drop drops methods.
func drop(file, receiver string, methods []string) []edit.Edit {
	var drops []edit.Edit
	for _, m := range methods {
		drops = append(drops, edit.In(file, edit.Method(receiver, m)).Drop())
	}
	return drops
}

// The engine's folders, and the ledger's file for plugins that are disconnected.
const (
	engine             = "internal/nri/lifecycle"
	ledger             = engine + "/ledger"
	ledgerDisconnected = "disconnected.go"
)
