// SPDX-License-Identifier: Apache-2.0

package shimcollection

import "github.com/hookline-nri/hookline/internal/edit"

// ShimCollection collects no garbage while a shim starts.
var ShimCollection = edit.Patch{
	Slug:    "shim-collection",
	Module:  "containerd",
	Subject: "shim: collect no garbage while a shim starts",
	Body: `A shim sets Go's collector to 40 percent first of all. At that the first
collection begins at 1.6 MiB, which is in the middle of each start, and
finds next to nothing.

Without it the shim for runc takes 9 ms of CPU time for RunPodSandbox
and not 15, and the command start 4.6 ms and not 5.2. That was measured
with this change alone, on two processors.

Begin with Go's own setting of 100 percent, with which there is no
collection below some four MiB. Set 40 percent 30 seconds later,
together with the first of the collections that are forced each 30
seconds. From then on all is as before. A shim whose plugins have set
another value by then keeps that value.`,
	Refs:   []string{"containerd/containerd#2020", "containerd/containerd#2055"},
	Status: edit.Upstream,
	Until:  "a shim collects no garbage while it starts",
	Edits: []edit.Edit{
		setRuntime.Replace(edit.Expr("debug.SetGCPercent(40)"), "debug.SetGCPercent(percentInStart)"),
		setRuntime.Replace(edit.Stmt(edit.Has(edit.Range("time.Tick(30 * time.Second)"))), "go collectGarbage(time.Tick(30 * time.Second))\n"),
	},
}

var setRuntime = edit.In("pkg/shim/shim.go", edit.Func("setRuntime"))
