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
	Body: `If a plugin fails to handle the stop or removal of a pod or container, the
plugins after it never receive that event. They do not release what they hold
for the pod: addresses, devices and CPUs leak until these plugins restart.

The end of a pod or container is a fact. No plugin can reject it, so there is no
reason to stop at the first error. Call every plugin, and return the errors
joined, each with the name of its plugin. StopContainer returns the updates of
the plugins that answered, beside the error.

The guide said that plugins after a failure do not receive the request, and that
fail_request holds for StopContainer and RemoveContainer. This is true only of
creations and updates. Say what holds for stops and removals.`,
	Refs:   []string{"kubernetes-sigs/cri-tools#2046", "containerd/nri#286"},
	Rules:  []string{"L8", "L9"},
	Status: edit.Upstream,
	Until:  "NRI delivers StopPodSandbox, RemovePodSandbox, StopContainer and RemoveContainer to all plugins, whatever the others return",
	Edits: slices.Concat(
		continueAfterError("StopPodSandbox"),
		continueAfterError("RemovePodSandbox"),
		continueAfterError("RemoveContainer"),
		stopContainerContinues(),
		[]edit.Edit{edit.InSection("README.md", nri.FailureSection, "in index order").Replace(`
A request goes to the plugins one after the other, in the order of their indices. The
first plugin that answers with an error ends it: the plugins after it do not receive
the request, and the operation on the pod or container fails. Stops and removals are
different. StopPodSandbox, RemovePodSandbox, StopContainer and RemoveContainer go to
every plugin, and the runtime receives all errors.`),
			edit.InSection("README.md", nri.FailureSection, "`fail_request`", "`keep_connected`", "unregisters").Replace(`
  - ` + "`fail_request`" + `: a request that the plugin does not answer fails, with an error
    that names the plugin and the request. The plugins after it do not receive the
    request, unless it is a stop or a removal. If not set, they receive it as usual, and
    the runtime gets no error.
  - ` + "`keep_connected`" + `: the plugin stays registered after a timeout, and receives later
    requests. If not set, a timeout unregisters it. A connection that breaks does so in
    any case.`),
			edit.InSection("README.md", nri.FailureSection, "`fail_request`", "`StopContainer`").Replace(`
A plugin that stays connected and does not answer costs each of its requests one
timeout. If it has set ` + "`fail_request`" + ` and does not answer ` + "`StopContainer`" + `, the
runtime receives an error, as for a stop that a plugin fails: the container has stopped
all the same, and all plugins receive the stop.`),
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

// stopContainerContinues does the same for StopContainer, which collects replies. Its
// second error comes from applying a reply.
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
