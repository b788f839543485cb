// SPDX-License-Identifier: Apache-2.0

package podspans

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/containerd"
)

// PodSpans shows in a trace where the time of a pod's creation and end goes.
var PodSpans = edit.Patch{
	Slug:    "pod-spans",
	Module:  "containerd",
	Subject: "cri,nri: add spans for the steps of pods and for NRI plugins",
	Body: `The trace of a pod that starts slowly has one span for all of
RunPodSandbox and one for the network. It does not show whether the time
went to the network namespace, to the sandbox's controller or to an NRI
plugin, nor whether a plugin was slow itself or busy with another pod.

Add spans for the network namespace and for each call of the sandbox's
controller. Add two spans for each NRI plugin and event, from the
reports of the adaptation: the wait for the plugin's earlier requests,
and the time in the plugin, with plugin, pod, event and outcome.

Other sandbox controllers receive the same calls, with a span in the
context.`,
	Refs:   []string{"containerd/nri#286", "containerd/nri#165"},
	Rules:  []string{"L17"},
	Status: edit.Upstream,
	Until:  "traces of CRI requests have spans of the sandbox's controller and of each NRI plugin",
	Needs:  []string{"nri/delivery-metrics", "containerd/patched-nri", "containerd/sandbox-phase"},
	Edits: []edit.Edit{
		containerd.NewService.Replace(edit.Expr("newCriSandboxService(&config, options.SandboxControllers)"),
			"tracedSandboxService{newCriSandboxService(&config, options.SandboxControllers)}"),
		containerd.Run.Replace(edit.Expr("netns.NewNetNSAt(sandbox.NetNSPath, 0)"),
			`step(ctx, "netns", id, func(context.Context) (*netns.NetNS, error) {
	return netns.NewNetNSAt(sandbox.NetNSPath, 0)
})`),
		containerd.Run.Replace(edit.Expr("c.setupNetnsWithinUserns(sandbox.NetNSPath, usernsOpts)"),
			`step(ctx, "netns", id, func(context.Context) (*netns.NetNS, error) {
	return c.setupNetnsWithinUserns(sandbox.NetNSPath, usernsOpts)
})`),
	},
}
