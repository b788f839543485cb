// SPDX-License-Identifier: Apache-2.0

package nrinames

import "github.com/hookline-nri/hookline/internal/edit"

// WhoConnects identifies the peer of a connection with the kernel's help.
var WhoConnects = edit.Patch{
	Slug:    "who-connects",
	Module:  "nri",
	Subject: "peer: identify the user and pod at the other end of a socket",
	Body: `NRI does not verify the name of a plugin, and does not know which user or pod
has connected to the socket.

Add a package that reads the user, the process and the pod of a peer from the
kernel when its connection is accepted. The pod comes from the cgroup of the
process. A file descriptor refers to the process, so that another process that
gets its number later is not mistaken for it. Nothing uses the package yet.`,
	Rules:  []string{"L21"},
	Status: edit.Upstream,
	Until:  "NRI identifies the user and the pod of its plugins",
	Packages: []edit.Package{{
		From: "internal/nri/peer",
		To:   "internal/peer",
	}},
}
