// SPDX-License-Identifier: Apache-2.0

package rejectedpodends

import (
	"slices"

	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/nri"
)

// RejectedPodEnds keeps the end of a pod from the plugins that were never told of it.
var RejectedPodEnds = edit.Patch{
	Slug:    "rejected-pod-ends",
	Module:  "nri",
	Subject: "adaptation: end a rejected pod only for plugins that know it",
	Body: `When a plugin rejects a pod, the plugins after it are told of the end of a
pod they have never heard of. Plugins are asked in index order, up to the
first that rejects; the runtime then rolls the pod back with StopPodSandbox
and RemovePodSandbox, and those go to all.

Remember for each plugin which pods it was told of, by Synchronize or by the
first event of the pod or of one of its containers, until it has answered
their removal, and send it the end of those alone. The one that rejected is
among them: it may have acted before it said no, or may have only failed to
answer in time. The adaptation remembers it, since a runtime does not know its
plugins.

The end of a pod of which no plugin was told reaches no plugin any more. One of
the tests did that, and begins its pods now.`,
	Refs:   []string{"containerd/nri#286", "containerd/containerd#13355"},
	Rules:  []string{"L3", "L7"},
	Status: edit.Upstream,
	Until:  "NRI tracks which plugins know a pod; the lifecycle engine's ledger takes its place here",
	Needs:  []string{"nri/teardown-reaches-all"},
	Edits: slices.Concat(
		[]edit.Edit{
			edit.In(nri.PluginFile, edit.Type("plugin")).AddField("\n\npods knownPods"),
			edit.In(nri.PluginFile, edit.Method("plugin", "synchronize")).Before(edit.Top(), `p.pods.learn(pods...)
`),
			edit.In(nri.Adaptation, edit.Method("Adaptation", "RunPodSandbox")).Before(
				edit.Stmt(edit.All(edit.If("err != nil"), edit.Call("plugin.runPodSandbox"))), `plugin.pods.learn(req.GetPod())`),
			edit.In(nri.Adaptation, edit.Method("Adaptation", "UpdatePodSandbox")).Before(
				edit.Stmt(edit.Call("plugin.updatePodSandbox")), `plugin.pods.learn(req.GetPod())`),
			edit.In(nri.Adaptation, edit.Method("Adaptation", "CreateContainer")).Before(
				edit.Stmt(edit.Call("plugin.createContainer")), `plugin.pods.learn(req.GetPod())`),
			edit.In(nri.Adaptation, edit.Method("Adaptation", "RemovePodSandbox")).After(
				edit.Stmt(edit.Define("_", "err")), `if err == nil {
	plugin.pods.forget(req.GetPod())
}`),
			edit.In(nri.PolicyTest, edit.Func("TestPluginFailurePolicy")).Before(edit.Stmt(edit.Define("before")), `for _, pod := range []*api.PodSandbox{pod0, pod1} {
	require.NoError(t, rt.RunPodSandbox(ctx, &api.RunPodSandboxRequest{Pod: pod}))
}
`),
		},
		passOverStrangers("StopPodSandbox"),
		passOverStrangers("RemovePodSandbox"),
	),
}

// passOverStrangers sends the end of a pod to no plugin that does not know it.
func passOverStrangers(method string) []edit.Edit {
	m := edit.In(nri.Adaptation, edit.Method("Adaptation", method))
	return []edit.Edit{
		m.Replace(edit.Expr("plugin.isClosed()"), `plugin.isClosed() || !plugin.pods.has(req.GetPod())`),
	}
}
