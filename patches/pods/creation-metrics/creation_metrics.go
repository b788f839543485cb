// SPDX-License-Identifier: Apache-2.0

package creationmetrics

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/containerd"
)

// CreationMetrics adds metrics of pods being created and of the time of hooks.
var CreationMetrics = edit.Patch{
	Slug:    "creation-metrics",
	Module:  "containerd",
	Subject: "cri: add metrics of pods being created and of hooks",
	Body: `No metric shows a pod whose creation hangs or failed, because CRI counts
only creations that succeeded. How many pods wait for a plugin, and for
how long, is only in the log. The timer of sandbox stops includes the
time of hooks, because plugins receive the stop before the sandbox is
stopped.

Add metrics of the number of pods being created and the age of the
oldest, of creations that ended early by reason, of roll-backs that
failed, and of pods whose creation a restart interrupted. Give the hooks
of pods a timer and spans of their own, and leave them out of the timer
of stops, as before.

The error of a rejected pod keeps its message and its class for the
kubelet, because the type around it unwraps to it.`,
	Refs:   []string{"containerd/nri#286", "containerd/containerd#13859"},
	Rules:  []string{"L17"},
	Status: edit.Upstream,
	Until:  "CRI has metrics of pods being created and of hooks",
	Needs:  []string{"containerd/containers-stop-first", "containerd/stop-before-reclaim", "containerd/sandbox-phase"},
	Edits: []edit.Edit{
		containerd.NewService.Before(edit.Stmt(edit.Assign("c.nri")), "beingCreated.of(&c.creations)\n"),
		containerd.Run.Before(edit.Stmt(edit.Call("creation.Context")), `defer func(caller context.Context) { countCreation(caller, retErr, cleanupErr) }(ctx)
`),
		containerd.Run.Replace(edit.Expr("c.nri.RunPodSandbox(ctx, &sandbox)"), "c.runHook(ctx, &sandbox)"),
		containerd.Stop.Replace(edit.Expr("c.nri.StopContainer(ctx, &sandbox, &container)"),
			`leftOut(ctx, &stop, "StopContainer", func(ctx context.Context) error { return c.nri.StopContainer(ctx, &sandbox, &container) })`),
		containerd.Stop.Replace(edit.Expr("c.nri.StopPodSandbox(ctx, &sandbox)"),
			`leftOut(ctx, &stop, "StopPodSandbox", func(ctx context.Context) error { return c.nri.StopPodSandbox(ctx, &sandbox) })`),
		containerd.RecoverAll.Before(edit.Stmt(edit.Call("c.ImageService.CheckImages")), "c.countInterrupted()\n"),
	},
}
