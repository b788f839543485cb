// SPDX-License-Identifier: Apache-2.0

package nriengine

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/nri"
)

// SyncBlock keeps BlockPluginSync as an API without effect.
var SyncBlock = edit.Patch{
	Slug:    "sync-block",
	Module:  "nri",
	Subject: "adaptation: let BlockPluginSync block no plugin",
	Body: `Runtimes hold a read lock through each pod operation, so that no plugin is
synchronized in the middle of one. Plugins no longer take the write lock: a
plugin that joins takes part in every operation from that moment on, and the
ledger records which pods and containers it received. Drop the lock. The API
stays for runtimes that use it, and costs nothing.`,
	Refs:   []string{"containerd/containerd#13698", "containerd/containerd#14083", "kubernetes-sigs/cri-tools#2137"},
	Rules:  []string{"L13"},
	Status: edit.Upstream,
	Until:  "BlockPluginSync takes no lock, or is gone",
	Needs:  []string{"nri/adaptation-engine"},
	Edits: []edit.Edit{
		edit.In(nri.Adaptation, edit.Type("Adaptation")).Delete(edit.Field("syncLock")),
		edit.In(nri.Adaptation, edit.Func("New")).Delete(edit.Key("syncLock")),
		edit.In(nri.Adaptation, edit.Type("PluginSyncBlock")).Drop(),
		edit.In(nri.Adaptation, edit.Method("Adaptation", "BlockPluginSync")).Drop(),
		edit.In(nri.Adaptation, edit.Method("PluginSyncBlock", "Unblock")).Drop(),
		// BlockPluginSync no longer waits for anything.
		edit.In("pkg/adaptation/suite_test.go", edit.Method("Suite", "WaitForPluginsToSync")).
			Delete(edit.Stmt(edit.Call("s.runtime.runtime.BlockPluginSync"))),
	},
}
