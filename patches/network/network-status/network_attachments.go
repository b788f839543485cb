// SPDX-License-Identifier: Apache-2.0

package networkstatus

import (
	"github.com/hookline-nri/hookline/internal/edit"
)

// NetworkAttachments brings a DEL that needs no loaded configuration.
var NetworkAttachments = edit.Patch{
	Slug:    "network-attachments",
	Module:  "containerd",
	Subject: "cri: add a package for DEL with libcni's cached attachments",
	Body: `go-cni rejects a DEL when no configuration is loaded, and gives it to the
plugins of another one that was loaded since, though libcni caches all that the
DEL of an ADD needs.

Add netattach, which reads those attachments and runs the DEL of each plugin of
a chain with what its ADD had. Nothing uses it yet.

It looks only at files that have the sandbox's id in their name. nerdctl,
podman and CRI-O keep theirs in the same folder under other ids, and Multus
keeps those of its delegates in a folder of its own.`,
	Refs:     []string{"containerd/containerd#10743", "containerd/containerd#10744", "containerd/containerd#12130"},
	Rules:    []string{"N3"},
	Status:   edit.Upstream,
	Large:    "which configuration a DEL gets, and what is forgotten when it fails, is decided in one place: half of it would lose attachments",
	Until:    "go-cni runs DEL with libcni's cached attachments",
	Untested: "its tests need ADD, with which it is too large, and come with network-packages",
	Needs:    []string{"go-cni/network-monitor", "containerd/patched-cni"},
	Packages: []edit.Package{networkPackage("netattach", "doc.go", "attachment.go", "del.go", "detach.go", "loaded.go", "tolerant.go")},
}
