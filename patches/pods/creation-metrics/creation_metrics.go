// SPDX-License-Identifier: Apache-2.0

package creationmetrics

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/containerd"
)

// CreationMetrics shows what becomes of pods that are being created.
var CreationMetrics = edit.Patch{
	Slug:    "creation-metrics",
	Module:  "containerd",
	Subject: "cri: count pods being created, and what becomes of them",
	Body: `A pod whose creation hangs is in no metric, nor is one whose creation failed: CRI
counts what succeeded. How many pods wait for a plugin, and for how long, is known
only to whoever reads the log. And the time that a stop of a sandbox takes has that
of its hooks in it, since plugins get the stop before the sandbox is stopped.

Add the number of pods being created and the age of the oldest, creations that
ended early by reason, roll-backs that left something, and pods whose creation was
interrupted by a restart. Give the hooks of pods a timer and spans of their own, and
leave them out of the timer of the stop, as they were before.

The error of a rejected pod keeps its message and its class for the kubelet: the
type around it unwraps to it.`,
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
