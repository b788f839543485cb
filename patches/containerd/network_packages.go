// SPDX-License-Identifier: Apache-2.0

package containerd

import "github.com/hookline-nri/hookline/internal/edit"

// NetworkPackages brings the packages for STATUS, DEL and GC. Nothing uses them yet.
var NetworkPackages = edit.Patch{
	Slug:    "network-packages",
	Module:  "containerd",
	Subject: "cri: add packages for CNI STATUS, ADD, DEL and GC",
	Body: `go-cni runs STATUS under a lock and without a deadline, and refuses a DEL when
no configuration is loaded, though libcni caches all that a DEL needs. When an ADD
is canceled, the processes that its plugin started go on.

Add six packages: cniexec runs a plugin, and when its context ends returns once
the plugin's process group was killed; cnispan makes spans of requests; netconf reads go-cni's loaded
configuration; netstatus runs STATUS in the background, one at a time for each
network, and keeps the answers; netattach runs ADD, and DEL and GC with libcni's
cached attachments; and podnet puts them beside a go-cni object, with a copy of the
configuration that is read without a lock.`,
	Refs:   []string{"containerd/containerd#11186", "containerd/containerd#12130", "containerd/containerd#10743"},
	Rules:  []string{"N1", "N3", "N4"},
	Status: edit.Upstream,
	Until:  "go-cni runs STATUS without a lock, and DEL with libcni's cached attachments",
	Packages: []edit.Package{
		networkPackage("cnispan"),
		networkPackage("cniexec"),
		networkPackage("netconf"),
		networkPackage("netstatus"),
		networkPackage("netattach"),
		networkPackage("podnet"),
	},
}

// networkPackage is one of them, without its check for leaked goroutines, which
// needs a module that containerd does not require.
func networkPackage(name string) edit.Package {
	return edit.Package{From: "internal/cri/" + name, To: "internal/cri/" + name, Except: []string{"main_test.go"}}
}
