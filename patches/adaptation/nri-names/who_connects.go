// SPDX-License-Identifier: Apache-2.0

package nrinames

import "github.com/hookline-nri/hookline/internal/edit"

// WhoConnects brings what the kernel says of the peer of a connection.
var WhoConnects = edit.Patch{
	Slug:    "who-connects",
	Module:  "nri",
	Subject: "peer: tell who is at the other end of a socket",
	Body: `A plugin is what it says it is: nothing tells which user or pod has connected
to the socket.

Add a package that takes the user, the process and the pod of a peer from the
kernel when it is accepted: the pod from the cgroup of the process, which is
held by a file descriptor, so that a process that ends and another one with its
number are not mistaken for each other. Nothing uses it yet.`,
	Rules:  []string{"L21"},
	Status: edit.Upstream,
	Until:  "NRI knows who its plugins are",
	Packages: []edit.Package{{
		From: "internal/nri/peer",
		To:   "internal/peer",
	}},
}
