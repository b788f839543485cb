// SPDX-License-Identifier: Apache-2.0

package server

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/containerd/containerd/v2/internal/nri"
)

// NetworkReady names the disconnected plugins, and any other failure.
func TestL20_NetworkReadyNamesTheDisconnectedPlugins(t *testing.T) {
	since := time.Date(2026, 1, 2, 3, 4, 5, 6, time.FixedZone("", 3600))
	net := nri.NetworkGate{Plugin: "net", Closed: true, Disconnected: since}
	dev := nri.NetworkGate{Plugin: "dev", Closed: true, Disconnected: since.Add(time.Second)}
	restarting := nri.NetworkGate{Plugin: "restarting", Disconnected: since}
	for name, tc := range map[string]struct {
		gates           []nri.NetworkGate
		failed          bool
		reason, message string
	}{
		"none":                  {},
		"within its grace":      {gates: []nri.NetworkGate{restarting}},
		"one":                   {gates: []nri.NetworkGate{restarting, net}, reason: "NRIPluginDisconnected", message: "required plugin net is disconnected since 2026-01-02T02:04:05Z"},
		"two":                   {gates: []nri.NetworkGate{dev, net}, reason: "NRIPluginDisconnected", message: "required plugin dev is disconnected since 2026-01-02T02:04:06Z; required plugin net is disconnected since 2026-01-02T02:04:05Z"},
		"STATUS has failed too": {gates: []nri.NetworkGate{net}, failed: true, reason: "NetworkDegraded", message: "no route; required plugin net is disconnected since 2026-01-02T02:04:05Z"},
		"STATUS has failed":     {gates: []nri.NetworkGate{restarting}, failed: true, reason: "NetworkDegraded", message: "no route"},
	} {
		t.Run(name, func(t *testing.T) {
			condition := &runtime.RuntimeCondition{Status: true}
			if tc.failed {
				condition.Status, condition.Reason, condition.Message = false, "NetworkDegraded", "no route"
			}
			gateNetwork(tc.gates, condition)
			assert.Equal(t, tc.reason == "", condition.GetStatus())
			assert.Equal(t, tc.reason, condition.GetReason())
			assert.Equal(t, tc.message, condition.GetMessage())
		})
	}
}
