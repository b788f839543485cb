// SPDX-License-Identifier: Apache-2.0

package teardownreachesall

import (
	"slices"

	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/nri"
)

// TeardownReachesAll goes on after a plugin that fails to handle the end of a
// pod or container, and reports all failures at the end.
var TeardownReachesAll = edit.Patch{
	Slug:    "teardown-reaches-all",
	Module:  "nri",
	Subject: "adaptation: deliver teardown to every plugin",
	Body: `One plugin that fails to handle the stop or removal of a pod or container
keeps that event from all plugins after it. They never release what they
hold for the pod: addresses, devices and CPUs leak until they restart.

The end of a pod or container is a fact. No plugin can reject it, so there
is no reason to stop at the first error. Ask every plugin, and return the
errors joined, each with the name of its plugin. StopContainer returns the
updates of those that answered beside the error.

The guide said that a failure keeps the request from the plugins after it, and
that fail_request holds for StopContainer and RemoveContainer. That is so of
beginnings alone; say what holds of ends.`,
	Refs:   []string{"kubernetes-sigs/cri-tools#2046", "containerd/nri#286"},
	Rules:  []string{"L8", "L9"},
	Status: edit.Upstream,
	Until:  "NRI delivers StopPodSandbox, RemovePodSandbox, StopContainer and RemoveContainer to all plugins whatever the others return",
	Edits: slices.Concat(
		continueAfterError("StopPodSandbox"),
		continueAfterError("RemovePodSandbox"),
		continueAfterError("RemoveContainer"),
		stopContainerContinues(),
		[]edit.Edit{edit.InSection("README.md", nri.FailureSection, "in index order").Replace(`
A request goes to the plugins one after the other, by index. The first that answers
with an error ends it: those behind are not asked, and the operation on the pod or
container fails. Ends are different. StopPodSandbox, RemovePodSandbox,
StopContainer and RemoveContainer go to every plugin, and the runtime is told of all
that failed.`),
			edit.InSection("README.md", nri.FailureSection, "`fail_request`", "`keep_connected`", "unregisters").Replace(`
  - ` + "`fail_request`" + `: a request that the plugin leaves unanswered fails, with an
    error that says which plugin and which request. Those behind it are not asked,
    unless the request tells of an end. If not set, they are asked as usual, and the
    runtime hears nothing of it.
  - ` + "`keep_connected`" + `: a timeout does not cost the plugin its registration, and it
    is sent what comes next. If not set, a timeout unregisters it. A connection that
    breaks does so in any case.`),
			edit.InSection("README.md", nri.FailureSection, "`fail_request`", "`StopContainer`").Replace(`
A plugin that stays connected and does not answer costs each of its requests one
timeout. Where it has set ` + "`fail_request`" + `, the runtime is told of a
` + "`StopContainer`" + ` that it left unanswered, as of a stop that another plugin failed: the
container has stopped all the same, and all plugins are told of it.`),
		},
	),
}

// continueAfterError rewrites the loop over the plugins in a relay method that
// returns only an error.
func continueAfterError(method string) []edit.Edit {
	m := edit.In(nri.Adaptation, edit.Method("Adaptation", method))
	return []edit.Edit{
		m.Before(eachPlugin, `var errs teardownErrors`),
		m.Replace(onError, `errs.add(plugin, err)`),
		m.Replace(edit.Stmt(edit.Return("nil")), `return errs.join()`),
	}
}

// stopContainerContinues does the same where replies are collected. The second
// error is that of applying a reply.
func stopContainerContinues() []edit.Edit {
	m := edit.In(nri.Adaptation, edit.Method("Adaptation", "StopContainer"))
	return []edit.Edit{
		m.Before(eachPlugin, `var errs teardownErrors`),
		m.Replace(edit.Stmt(edit.Assign("err")).And(1), `errs.add(plugin, result.apply(rpl, plugin.name()))`),
		m.Replace(onError, `if err != nil {
	errs.add(plugin, err)
	continue
}`),
		m.Replace(edit.Stmt(edit.Return("result.stopContainerResponse()", "nil")),
			`return result.stopContainerResponse(), errs.join()`),
	}
}

var (
	eachPlugin = edit.Stmt(edit.Range("r.plugins")).As("loop over the plugins")
	onError    = edit.Stmt(edit.If("err != nil")).As("return of the first error")
)
