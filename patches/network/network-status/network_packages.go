// SPDX-License-Identifier: Apache-2.0

package networkstatus

import (
	"github.com/hookline-nri/hookline/internal/edit"
)

// NetworkPackages adds packages that run ADD, DEL, GC and STATUS of a go-cni object. Nothing
// uses them yet.
var NetworkPackages = edit.Patch{
	Slug:    "network-packages",
	Module:  "containerd",
	Subject: "cri: add a package that runs ADD, DEL, GC and STATUS",
	Body: `go-cni runs STATUS under a lock and without a deadline. When an ADD is
canceled, the processes that its plugin started go on.

Add podnet, which accompanies a go-cni object. It has a copy of its
configuration that is read without a lock, and runs STATUS in the
background. Complete netattach with ADD and GC. Nothing uses them yet.`,
	Refs:   []string{"containerd/containerd#11186", "containerd/containerd#12130", "containerd/containerd#10743"},
	Rules:  []string{"N1", "N3", "N4"},
	Status: edit.Upstream,
	Until:  "go-cni runs STATUS without a lock, and ADD and DEL with a deadline",
	Needs:  []string{"containerd/network-attachments"},
	Packages: []edit.Package{
		networkPackage("netattach", "attach.go", "collect.go", "*_test.go"),
		networkPackage("podnet", "doc.go", "gate.go", "network.go", "collect.go", "*_test.go"),
	},
}
