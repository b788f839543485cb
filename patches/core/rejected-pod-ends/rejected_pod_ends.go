// SPDX-License-Identifier: Apache-2.0

package rejectedpodends

import (
	"slices"

	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/nri"
)

// RejectedPodEnds sends the end of a pod only to plugins that have received the pod.
var RejectedPodEnds = edit.Patch{
	Slug:    "rejected-pod-ends",
	Module:  "nri",
	Subject: "adaptation: end a rejected pod only for plugins that know it",
	Body: `When a plugin rejects a pod, the plugins after it receive the end of a pod that
they have never received. Plugins are asked in index order, up to the first that
rejects. The runtime then rolls the pod back with StopPodSandbox and
RemovePodSandbox, and these go to all plugins.

Record for each plugin which pods it has received, in Synchronize or by the
first event of the pod or of one of its containers, until it has answered their
removal. Send the plugin only the ends of these pods. A plugin that rejected a
pod has received it: it may have acted before it rejected, or may only have
failed to answer in time. The adaptation keeps the record, since a runtime does
not know its plugins.

If no plugin has received a pod, no plugin receives its end any more. One of the
tests sent such ends, and begins its pods now.`,
	Refs:   []string{"containerd/nri#286", "containerd/containerd#13355"},
	Rules:  []string{"L3", "L7"},
	Status: edit.Upstream,
	Until:  "NRI records which plugins know a pod; the ledger of the lifecycle engine replaces it here",
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
		sendIfKnown("StopPodSandbox"),
		sendIfKnown("RemovePodSandbox"),
	),
}

// sendIfKnown sends the end of a pod only to plugins that know the pod.
func sendIfKnown(method string) []edit.Edit {
	m := edit.In(nri.Adaptation, edit.Method("Adaptation", method))
	return []edit.Edit{
		m.Replace(edit.Expr("plugin.isClosed()"), `plugin.isClosed() || !plugin.pods.has(req.GetPod())`),
	}
}
