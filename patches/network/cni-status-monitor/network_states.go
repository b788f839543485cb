// SPDX-License-Identifier: Apache-2.0

package cnistatusmonitor

import (
	"github.com/hookline-nri/hookline/internal/edit"
	gocni "github.com/hookline-nri/hookline/patches/places/go-cni"
)

// NetworkStates brings what is known of a network: its state, and the settings by
// which it is found out.
var NetworkStates = edit.Patch{
	Slug:    "network-states",
	Module:  "go-cni",
	Subject: "netstatus: tell states of a network apart",
	Body: `STATUS has one error for a network that is not configured, one that takes no
pods for now, one that did not answer and one whose plugin could not be run.
Whoever asks gets a text, and cannot tell them apart.

Add a type for the last answer of a network, with state, code, message, plugin
and since when, and netconf, which reads the networks of a loaded configuration.

go-cni itself does not use the two packages. Status answers as before, for
ctr, nerdctl and all others.`,
	Refs:     []string{"containerd/containerd#11186", "containernetworking/cni#859"},
	Rules:    []string{"N1", "N2"},
	Status:   edit.Upstream,
	Until:    "go-cni's Status tells why a network takes no pods",
	Packages: []edit.Package{gocni.Part("netconf"), gocni.Part("netstatus", "status.go", "options.go")},
}
