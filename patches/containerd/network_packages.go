// SPDX-License-Identifier: Apache-2.0

package containerd

import "github.com/hookline-nri/hookline/internal/edit"

// NetworkPackages brings what knows of networks, which nothing uses yet.
var NetworkPackages = edit.Patch{
	Slug:    "network-packages",
	Module:  "containerd",
	Subject: "cri: add packages that ask CNI networks, attach pods and take them off",
	Body: `go-cni runs STATUS under a lock and without a deadline, and refuses a DEL when
no configuration is loaded, though libcni keeps with each ADD all that its DEL
needs. When an ADD is cut, what its plugin had started goes on.

Add five packages: one that runs a plugin and ends when its context does, with
all that the plugin started; one that reads what go-cni has loaded; one
that keeps what networks answer to
STATUS, asked in the background with one question at a time; one that attaches a
pod, and takes it off its networks with what libcni kept; and one that puts them beside a
go-cni object, with a copy of the configuration that is read without a lock.`,
	Refs:   []string{"containerd/containerd#11186", "containerd/containerd#12130", "containerd/containerd#10743"},
	Rules:  []string{"N1", "N3", "N4"},
	Status: edit.Upstream,
	Until:  "go-cni asks STATUS without a lock and deletes with what libcni kept",
	Packages: []edit.Package{
		networkPackage("cniexec"),
		networkPackage("netconf"),
		networkPackage("netstatus"),
		networkPackage("netattach"),
		networkPackage("podnet"),
	},
}

// networkPackage is one of them, without the check for goroutines, for which
// containerd requires no module.
func networkPackage(name string) edit.Package {
	return edit.Package{From: "internal/cri/" + name, To: "internal/cri/" + name, Except: []string{"main_test.go"}}
}
