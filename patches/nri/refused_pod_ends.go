// SPDX-License-Identifier: Apache-2.0

package nri

import "github.com/hookline-nri/hookline/internal/edit"

// RefusedPodEnds keeps the end of a pod that a plugin refused from the plugins
// that were never asked about it.
var RefusedPodEnds = edit.Patch{
	Slug:    "refused-pod-ends",
	Module:  "nri",
	Subject: "adaptation: end a refused pod only for plugins that were asked",
	Body: `When a plugin refuses a pod, the plugins after it are told of the end of a
pod they have never heard of. Plugins are asked in index order, up to the
first that refuses; the runtime then rolls the pod back with StopPodSandbox
and RemovePodSandbox, and those go to all.

Remember which plugins were asked for a pod that was refused, and send its
end to those alone. The one that refused is among them: it may have acted
before it said no, or may have only failed to answer in time. The note is
forgotten with RemovePodSandbox. It is kept by the adaptation, since a
runtime does not know its plugins.`,
	Refs:   []string{"containerd/nri#286", "containerd/containerd#13355"},
	Rules:  []string{"L3", "L7"},
	Status: edit.Backport,
	Until:  "NRI tracks which plugins know a pod; the lifecycle engine's ledger takes its place here",
	Needs:  []string{"nri/teardown-reaches-all"},
	Edits: edits(
		[]edit.Edit{
			edit.In(adaptation, edit.Type("Adaptation")).AddField(`refused     refusals`),
		},
		noteWhoWasAsked(),
		skipUnasked("StopPodSandbox"),
		skipUnasked("RemovePodSandbox"),
		[]edit.Edit{
			edit.In(adaptation, edit.Method("Adaptation", "RemovePodSandbox")).
				Before(edit.Stmt(edit.Return("errs.join()")), `r.refused.forget(req.GetPod().GetId())`),
		},
	),
}

// noteWhoWasAsked counts a plugin as asked before its answer is known.
func noteWhoWasAsked() []edit.Edit {
	m := edit.In(adaptation, edit.Method("Adaptation", "RunPodSandbox"))
	ask := edit.Stmt(edit.All(edit.If("err != nil"), edit.Call("plugin.runPodSandbox")))
	return []edit.Edit{
		m.Before(eachPlugin, `var asked []*plugin`),
		m.Before(ask, `asked = append(asked, plugin)`),
		m.Before(edit.Stmt(edit.Return("err")), `r.refused.note(req.GetPod().GetId(), asked)`),
	}
}

// skipUnasked passes over plugins that never heard of a refused pod.
func skipUnasked(method string) []edit.Edit {
	m := edit.In(adaptation, edit.Method("Adaptation", method))
	return []edit.Edit{
		m.Replace(edit.Expr("plugin.isClosed()"), `plugin.isClosed() || r.refused.unasked(req.GetPod().GetId(), plugin)`),
	}
}
