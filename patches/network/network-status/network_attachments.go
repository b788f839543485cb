// SPDX-License-Identifier: Apache-2.0

package networkstatus

import (
	"github.com/hookline-nri/hookline/internal/edit"
)

// NetworkAttachments adds a DEL that needs no loaded configuration.
var NetworkAttachments = edit.Patch{
	Slug:    "network-attachments",
	Module:  "containerd",
	Subject: "cri: add a package for DEL with libcni's cached attachments",
	Body: `go-cni rejects a DEL when no configuration is loaded. If another
configuration was loaded since the ADD, its plugins receive the DEL. Yet
libcni caches all that the DEL of an ADD needs.

Add netattach, which reads these cached attachments, and runs the DEL of
each plugin of a chain with the configuration and arguments of its ADD.
Nothing uses it yet.

It reads only files that have the sandbox's id in their name. nerdctl,
podman and CRI-O keep theirs in the same folder under other ids, and
Multus keeps those of its delegates in a folder of its own.`,
	Refs:     []string{"containerd/containerd#10743", "containerd/containerd#10744", "containerd/containerd#12130"},
	Rules:    []string{"N3"},
	Status:   edit.Upstream,
	Large:    "one place decides the configuration of a DEL and which attachments a failure forgets: half of it would lose attachments",
	Until:    "go-cni runs DEL with libcni's cached attachments",
	Untested: "its tests need ADD, with which the patch would be too large: they come with network-packages",
	Needs:    []string{"go-cni/network-monitor", "containerd/patched-cni"},
	Packages: []edit.Package{networkPackage("netattach", "doc.go", "attachment.go", "del.go", "detach.go", "loaded.go", "tolerant.go")},
}
