// SPDX-License-Identifier: Apache-2.0

package sandboxwithoutprocess

import "github.com/hookline-nri/hookline/internal/edit"

// SandboxedShim adds a shim for runc that makes sandboxes.
var SandboxedShim = edit.Patch{
	Slug:    "sandboxed-shim",
	Module:  "containerd",
	Subject: "shim: add a shim for runc that makes sandboxes",
	Body: `Add containerd-shim-sandboxed-runc-v2: the tasks of the shim for runc,
and a sandbox without a process, in one process. It ends with its
sandbox. Its delete command removes the mounts of a shim that was lost.

It is a program of its own, so that the shim of all other pods stays as
it is, and a containerd without it can stop and remove its pods. A pod
uses it if its runtime handler has the program as runtime_path, and
sandboxer = "shim".`,
	Refs:     []string{"containerd/containerd#14106", "containerd/containerd#14135"},
	Rules:    []string{"L25"},
	Status:   edit.Upstream,
	Until:    "a shim in containerd makes sandboxes for runc without a process",
	Needs:    []string{"containerd/pods-without-pause", "containerd/sandbox-service"},
	Packages: []edit.Package{{From: "internal/shim/sandboxed", To: program}},
}
