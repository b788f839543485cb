// SPDX-License-Identifier: Apache-2.0

package sandboxwithoutprocess

import "github.com/hookline-nri/hookline/internal/edit"

// PinnedNamespaces adds what holds namespaces without a process.
var PinnedNamespaces = edit.Patch{
	Slug:    "pinned-namespaces",
	Module:  "containerd",
	Subject: "shim: make namespaces that mounts hold",
	Body: `A sandbox without a process needs somebody who makes its namespaces. A
thread can: it unshares them, mounts them, sets the hostname and the
sysctls there, and ends.

Sysctls that belong to no namespace of the pod are rejected: they would
change the node.

The configuration of a pod is read field by field. CRI's package brings
gRPC along, which would nearly double the size of the shim.`,
	Refs:     []string{"containerd/containerd#14135"},
	Rules:    []string{"L25"},
	Status:   edit.Upstream,
	Until:    "a shim in containerd makes sandboxes for runc without a process",
	Packages: []edit.Package{part("doc.go", "thread.go", "pins.go", "sysctl.go", "sysctl_test.go", "config.go", "config_test.go")},
}
