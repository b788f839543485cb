// SPDX-License-Identifier: Apache-2.0

package cnistatusmonitor

import (
	"github.com/hookline-nri/hookline/internal/edit"
	gocni "github.com/hookline-nri/hookline/patches/places/go-cni"
)

// NetworkMonitor brings a monitor that runs STATUS in the background.
var NetworkMonitor = edit.Patch{
	Slug:    "network-monitor",
	Module:  "go-cni",
	Subject: "netstatus: run STATUS in the background",
	Body: `Status runs STATUS of all networks while somebody waits: a plugin that hangs
costs each who asks ten seconds.

Add a monitor beside the go-cni object. It runs STATUS of each network once at
a time, in the background and with a deadline, holds no lock meanwhile, and
answers from the last result. A caller may ask for a fresh one.

go-cni's own Status stays as it is, and its callers wait as before. The monitor kills the process group of a
plugin after STATUS, so a daemon that a plugin starts there has to leave the
group.`,
	Refs:     []string{"containerd/containerd#11186", "containernetworking/cni#859"},
	Rules:    []string{"N1", "N2", "N4"},
	Status:   edit.Upstream,
	Until:    "go-cni runs STATUS without a lock and with a deadline",
	Needs:    []string{"go-cni/plugin-processes", "go-cni/network-states"},
	Packages: []edit.Package{gocni.Part("netstatus", "doc.go", "ask.go", "monitor.go", "round.go", "*_test.go")},
}
