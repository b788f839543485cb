// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// DEL does not ask whether the network takes pods.
func TestN3_PodsEndWhileStatusFails(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{"cannot add": takesNone, "degraded": degraded, "garbage": garbage} {
		t.Run(name, func(t *testing.T) {
			a := newAgent(t)
			pod := a.runPod("web")
			a.says("STATUS", script)
			a.requireNetworkDown(t, "")
			a.requirePodEnds(t, pod)
			a.requireNoAddressTaken(t, "blue")
		})
	}
}

// All addresses are taken: new pods are refused with the plugin's words, old
// ones go, and then new ones come.
func TestN3_PodsEndWhenAllAddressesAreTaken(t *testing.T) {
	t.Parallel()
	a := newAgent(t)
	a.loadNetwork("tiny", "10.92.0.0/29")
	var pods []string
	for _, name := range []string{"a", "b", "c", "d", "e"} { // of 8: network, gateway and broadcast are none
		pods = append(pods, a.runPod(name))
	}
	for range 3 {
		_, err := a.tryRunPod(a.n.CRI().Pod("more"))
		require.ErrorContains(t, err, "no IP addresses available in range set")
	}
	assert.Len(t, a.addressesTaken("tiny"), len(pods))
	a.requirePodEnds(t, pods[0])
	pods[0] = a.runPod("more")
	for _, pod := range pods {
		a.requirePodEnds(t, pod)
	}
	a.requireNoAddressTaken(t, "tiny")
	requireNothingLeft(t, a.n)
}
