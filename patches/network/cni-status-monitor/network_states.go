// SPDX-License-Identifier: Apache-2.0

package cnistatusmonitor

import (
	"github.com/hookline-nri/hookline/internal/edit"
	gocni "github.com/hookline-nri/hookline/patches/places/go-cni"
)

// NetworkStates adds types for the state of a network and for the settings of its STATUS.
var NetworkStates = edit.Patch{
	Slug:    "network-states",
	Module:  "go-cni",
	Subject: "netstatus: distinguish the states of a network",
	Body: `Callers of STATUS cannot distinguish a network that is not configured, a
network that takes no pods for now, a network that did not answer, and a
network whose plugin could not be run. All of them are one error with a
text.

Add a type for the last answer of a network, with state, code, message,
plugin and since when. Add netconf, which reads the networks of a loaded
configuration.

go-cni itself does not use the two packages. Status answers as before,
for ctr, nerdctl and all other callers.`,
	Refs:     []string{"containerd/containerd#11186", "containernetworking/cni#859"},
	Rules:    []string{"N1", "N2"},
	Status:   edit.Upstream,
	Until:    "go-cni's Status returns the reason why a network takes no pods",
	Packages: []edit.Package{gocni.Part("netconf"), gocni.Part("netstatus", "status.go", "options.go")},
}
