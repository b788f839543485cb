// SPDX-License-Identifier: Apache-2.0

package server

import (
	"strconv"

	"github.com/containerd/log"
	"github.com/docker/go-metrics"

	"github.com/containerd/go-cni/netstatus"
)

var (
	networkStatusChecks metrics.LabeledCounter
	networkStatusTime   metrics.LabeledTimer
	networkRejectedPods metrics.LabeledCounter
)

func init() {
	ns := metrics.NewNamespace("containerd", "cri_network", nil)

	networkStatusChecks = ns.NewLabeledCounter("status_checks", "CNI STATUS requests, by state: ok, try_again, not_available, degraded, other_error, exec_failed or timed_out; and by CNI error code, 0 for none", "network", "state", "code")
	networkStatusTime = ns.NewLabeledTimer("status_check", "Duration of CNI STATUS requests", "network")
	networkRejectedPods = ns.NewLabeledCounter("rejected_pods", "Pods rejected because CNI STATUS failed, by the runtime handler of the network: default, or a handler with a network of its own", "handler")

	metrics.Register(ns)
}

// A networkObserver counts the answers of networks, and logs when they change.
type networkObserver struct {
	of  string // the runtime handler, or "default"
	log *log.Entry
}

// Answered implements netstatus.Observer.
func (networkObserver) Answered(s netstatus.Status) {
	if s.State == netstatus.Unsupported || s.State == netstatus.NotInitialized {
		return // no plugin was asked
	}
	networkStatusChecks.WithValues(s.Network, s.State.Label(), strconv.FormatUint(uint64(s.Code), 10)).Inc()
	networkStatusTime.WithValues(s.Network).Update(s.Took)
}

// Moved implements netstatus.Observer.
func (o networkObserver) Moved(before, now netstatus.Status) {
	entry := o.log.WithFields(log.Fields{"networks": o.of, "network": now.Network, "state": now.State.Label(), "before": before.State.Label()})
	if now.Ready() {
		entry.Info("network takes pods")
		return
	}
	entry.WithFields(log.Fields{"plugin": now.Plugin, "reason": networkReasons[now.State]}).Warnf("network takes no pods: %s", now)
}
