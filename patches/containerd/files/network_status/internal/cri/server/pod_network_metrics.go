// SPDX-License-Identifier: Apache-2.0

package server

import (
	"strconv"

	"github.com/docker/go-metrics"

	"github.com/containerd/containerd/v2/internal/cri/netstatus"
)

var (
	networkStatusAnswers metrics.LabeledCounter
	networkStatusTime    metrics.LabeledTimer
	networkRefusedPods   metrics.Counter
)

func init() {
	ns := metrics.NewNamespace("containerd", "cri_network", nil)

	networkStatusAnswers = ns.NewLabeledCounter("status", "Number of answers to CNI STATUS, by network, state and CNI error code", "network", "state", "code")
	networkStatusTime = ns.NewLabeledTimer("status", "Time that CNI STATUS took", "network")
	networkRefusedPods = ns.NewCounter("refused_pods", "Number of pods that were refused since CNI STATUS failed")

	metrics.Register(ns)
}

// A networkObserver counts what networks answer.
type networkObserver struct{}

// Answered implements netstatus.Observer.
func (networkObserver) Answered(s netstatus.Status) {
	if s.State == netstatus.Unsupported || s.State == netstatus.NotInitialised {
		return // nobody was asked
	}
	networkStatusAnswers.WithValues(s.Network, s.State.String(), strconv.FormatUint(uint64(s.Code), 10)).Inc()
	networkStatusTime.WithValues(s.Network).Update(s.Took)
}
