// SPDX-License-Identifier: Apache-2.0

package nriengine

import (
	"slices"
	"strings"

	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/nri"
)

const metricsTest = "pkg/adaptation/metrics_test.go"

// OldRelays drops code that the adaptation no longer uses.
var OldRelays = edit.Patch{
	Slug:    "old-relays",
	Module:  "nri",
	Subject: "adaptation: drop the relays that nothing calls",
	Body: `Each request had a relay of its own, which set the timeout and decided whether
the plugin stays connected. The engine does both now, and all requests go
through one function. Drop the old relays and the code that only they used. The
tests of their metrics call the new function. The test of the failure policy is
dropped: the tests of requests and policies cover it.`,
	Refs:   []string{"containerd/nri#63"},
	Rules:  []string{"L16"},
	Status: edit.Upstream,
	Until:  "NRI sets timeouts and handles failures in one place",
	Needs:  []string{"nri/adaptation-engine"},
	Edits: slices.Concat(
		drop(nri.PluginFile, "plugin", append(relays, "ValidateContainerAdjustment", "handleRequestError", "dropsPlugin")),
		[]edit.Edit{
			edit.In(nri.PluginFile, edit.Func("isFatalError")).Drop(),
			edit.In(metricsTest, edit.Func("TestPluginValidateContainerAdjustmentMetrics")).Replace(
				edit.Stmt(edit.Mentions("p.ValidateContainerAdjustment(context.Background(), req)")),
				"_, err := relayed(p, lifecycle.ValidateContainerAdjustment, req)"),
			edit.AddImport(metricsTest, "github.com/containerd/nri/internal/lifecycle"),
			// The engine applies the failure policy, and its tests cover it.
			edit.DropFile("pkg/adaptation/plugin_test.go"),
		},
		testRelays(),
	),
}

var relays = []string{
	"runPodSandbox", "updatePodSandbox", "postUpdatePodSandbox", "stopPodSandbox", "removePodSandbox",
	"createContainer", "postCreateContainer", "startContainer", "postStartContainer",
	"updateContainer", "postUpdateContainer", "stopContainer", "removeContainer",
}

// testRelays has upstream's tests of the metrics of relays call the one relay that is left.
func testRelays() []edit.Edit {
	var tests []edit.Edit
	for _, relay := range relays {
		kind := strings.ToUpper(relay[:1]) + relay[1:]
		tests = append(tests, edit.In(metricsTest, edit.Func("TestPlugin"+kind+"Metrics")).
			Replace(edit.Expr("p."+relay+"(context.Background(), req)"), "relayed(p, lifecycle."+kind+", req)"))
	}
	return tests
}
