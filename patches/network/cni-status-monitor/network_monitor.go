// SPDX-License-Identifier: Apache-2.0

package cnistatusmonitor

import (
	"github.com/hookline-nri/hookline/internal/edit"
	gocni "github.com/hookline-nri/hookline/patches/places/go-cni"
)

// NetworkMonitor adds a monitor that runs STATUS in the background.
var NetworkMonitor = edit.Patch{
	Slug:    "network-monitor",
	Module:  "go-cni",
	Subject: "netstatus: run STATUS in the background",
	Body: `Callers of Status wait while STATUS of all networks runs. A plugin that
hangs costs each caller ten seconds.

Add a monitor beside the go-cni object. It runs STATUS of each network
in the background, once at a time and with a deadline, and holds no lock
meanwhile. It answers from the last result. A caller may ask for a fresh
one.

go-cni's own Status does not change, and its callers wait as before. The
monitor kills the process group of a plugin after STATUS, so a daemon
that a plugin starts there must leave the group.`,
	Refs:     []string{"containerd/containerd#11186", "containernetworking/cni#859"},
	Rules:    []string{"N1", "N2", "N4"},
	Status:   edit.Upstream,
	Until:    "go-cni runs STATUS without a lock and with a deadline",
	Needs:    []string{"go-cni/plugin-processes", "go-cni/network-states"},
	Packages: []edit.Package{gocni.Part("netstatus", "doc.go", "ask.go", "monitor.go", "round.go", "*_test.go")},
}
