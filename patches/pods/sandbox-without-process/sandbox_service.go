// SPDX-License-Identifier: Apache-2.0

package sandboxwithoutprocess

import "github.com/hookline-nri/hookline/internal/edit"

// SandboxService adds the Sandbox API on pinned namespaces.
var SandboxService = edit.Patch{
	Slug:    "sandbox-service",
	Module:  "containerd",
	Subject: "shim: serve the Sandbox API without a process",
	Body: `Add the Sandbox API for a pod whose namespaces are held by mounts.
CreateSandbox makes all that does not depend on the network: the files
that the containers of a pod share, the shared memory, and the
namespaces. StartSandbox sets the sysctls of the network, and answers
with the pid 0 and a specification. Nothing uses it yet.`,
	Refs:     []string{"containerd/containerd#14135"},
	Rules:    []string{"L25"},
	Status:   edit.Upstream,
	Until:    "a shim in containerd makes sandboxes for runc without a process",
	Needs:    []string{"containerd/pinned-namespaces", "containerd/metrics-without-process"},
	Packages: []edit.Package{part("files.go", "pod.go", "service.go", "service_test.go", "spec.go", "spec_test.go")},
}
