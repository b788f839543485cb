// SPDX-License-Identifier: Apache-2.0

package network

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
)

// A case in conformance/cases asserts that such pods end.
func TestN3_DELsOfCachedAttachmentsAreCounted(t *testing.T) {
	t.Parallel()
	a := StartAgent(t)
	pods := []string{a.RunPod("first"), a.RunPod("second")}
	a.UnloadNetwork()
	Promise(t, "N3", "a DEL of libcni's cached attachment is counted", OnStock("it cannot be stopped"), func(t require.TestingT) {
		for _, pod := range pods {
			a.RequirePodEnds(t, pod)
		}
		counted, err := a.N.Metrics(WithinAMinute(a.T), "containerd_cri_network_cached_dels_total")
		require.NoError(t, err)
		assert.Equal(t, map[string]float64{"": 2}, counted)
	})
}

// A network is added on a node where a pod runs, and fails. The pod is not on it.
func TestN3_PodEndsThoughANetworkThatItIsNotOnFails(t *testing.T) {
	t.Parallel()
	a := StartAgent(t, "max_conf_num = 2")
	pod := a.RunPod("web")
	a.WriteConfig("20-more.conflist", `{"cniVersion": "1.1.0", "name": "more", "plugins": [{"type": "conformance-agent"}]}`)
	RequireSoon(a, "both to be loaded", func(ctx context.Context) error { return a.HasLoaded(ctx, "more") })
	a.Says("DEL", `[ "$CNI_IFNAME" = eth1 ] && { `+Fails+`; }`)
	Promise(t, "N3", "a pod ends though the DEL of a network that it is not on fails", OnStock("it cannot be stopped"), func(t require.TestingT) {
		a.RequirePodEnds(t, pod)
	})
	Promise(t, "N3", "its address is freed, and nothing is left", OnStock("both stay"), func(t require.TestingT) {
		a.RequireNoAddressTaken(t, "blue")
		RequireNothingLeft(t, a.N)
	})
	Promise(t, "N3", "the log reports no leak", KeptOnStock, func(t require.TestingT) {
		log, err := a.N.Log()
		require.NoError(t, err)
		assert.NotContains(t, log, "may have leaked")
	})
}

// A stopped pod is removed though a network fails that was added later: the pod was never on it.
func TestN3_StoppedPodIsRemovedThoughANetworkThatItIsNotOnFails(t *testing.T) {
	t.Parallel()
	a := StartAgent(t)
	pod := a.RunPod("web")
	a.LoadNetwork("green", "10.90.0.0/24")
	require.NoError(t, a.N.CRI().StopPod(WithinAMinute(t), pod))
	a.Says("DEL", Fails)
	Promise(t, "N3", "a stopped pod is removed though the DEL of a network that it is not on fails", OnStock("it is not removed"), func(t require.TestingT) {
		a.RequirePodEnds(t, pod)
	})
	Promise(t, "N3", "its address is freed, and nothing is left", OnStock("both stay"), func(t require.TestingT) {
		a.RequireNoAddressTaken(t, "blue", "green")
		RequireNothingLeft(t, a.N)
	})
	Promise(t, "N3", "the log reports no leak", KeptOnStock, func(t require.TestingT) {
		log, err := a.N.Log()
		require.NoError(t, err)
		assert.NotContains(t, log, "may have leaked", "its address was freed by the stop")
	})
}

// Nothing is known about a pod's attachment: the pod is removed, and the log says what may have
// leaked.
func TestN3_PodIsRemovedWithoutADELIfNothingIsKnown(t *testing.T) {
	t.Parallel()
	a := StartAgent(t)
	pod := a.RunPod("web")
	ip := a.AddressesTaken("blue")[0]
	require.NoError(t, os.RemoveAll(a.N.Attachments()))
	a.UnloadNetwork()
	Promise(t, "N3", "a pod without a cached attachment of libcni is removed without a successful DEL", OnStock("it cannot be stopped"), func(t require.TestingT) {
		a.RequirePodEnds(t, pod)
	})
	Promise(t, "N3", "the log says what the pod may have leaked", OnStock("it does not"), func(t require.TestingT) {
		log, err := a.N.Log()
		require.NoError(t, err)
		assert.Contains(t, log, "its addresses ["+ip+"] may have leaked")
	})
	Promise(t, "N3", "pods that are removed without a successful DEL are counted", OnStock("they are not"), func(t require.TestingT) {
		counted, err := a.N.Metrics(WithinAMinute(a.T), "containerd_cri_network_removed_without_del_total")
		require.NoError(t, err)
		assert.Equal(t, map[string]float64{"": 1}, counted)
	})
}

// The runtime was killed while libcni wrote the cached attachment of an ADD. A pod that hookline
// takes over from stock also has one of the loopback, a network that is no longer loaded.
func TestN3_AttachmentsThatCannotBeReadGoWithTheirPod(t *testing.T) {
	t.Parallel()
	a := StartAgent(t)
	pod := a.RunPod("web")
	for _, name := range []string{"blue-" + pod + "-eth0", "cni-loopback-" + pod + "-lo"} {
		require.NoError(t, os.WriteFile(filepath.Join(a.N.Attachments(), name), nil, 0o600))
	}
	Promise(t, "N3", "a pod whose cached attachments cannot be read ends, and nothing is left of it", KeptOnStock, func(t require.TestingT) {
		a.RequirePodEnds(t, pod)
		a.RequireNoAddressTaken(t, "blue")
		RequireNothingLeft(t, a.N)
	})
}
