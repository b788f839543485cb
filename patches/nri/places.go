// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"slices"

	"github.com/hookline-nri/hookline/internal/edit"
)

const (
	adaptation = "pkg/adaptation/adaptation.go" // relays requests of the runtime to plugins
	pluginFile = "pkg/adaptation/plugin.go"     // relays a request to one plugin
	policyTest = "pkg/adaptation/failure_policy_test.go"

	// Files that adaptation-engine brings.
	pluginsFile  = "pkg/adaptation/plugins.go"
	registration = "pkg/adaptation/registration.go"

	// The section of README.md on plugins that fail.
	failureSection = "Request Errors, Timeouts and Failure Policy"
)

var (
	eachPlugin = edit.Stmt(edit.Range("r.plugins")).As("loop over the plugins")
	onError    = edit.Stmt(edit.If("err != nil")).As("return of the first error")
)

// edits flattens the edits of several places.
func edits(places ...[]edit.Edit) []edit.Edit { return slices.Concat(places...) }

// drop drops methods.
func drop(file, receiver string, methods []string) []edit.Edit {
	var drops []edit.Edit
	for _, m := range methods {
		drops = append(drops, edit.In(file, edit.Method(receiver, m)).Drop())
	}
	return drops
}

// The engine's folders, and what its ledger has for plugins that are away.
const (
	engine     = "internal/nri/lifecycle"
	ledger     = engine + "/ledger"
	ledgerAway = "away.go"
)
