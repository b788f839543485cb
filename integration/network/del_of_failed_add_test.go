// SPDX-License-Identifier: Apache-2.0

package network

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
)

// The runtime is killed during an ADD, before libcni has cached anything, and starts with another
// network: the log says what may have leaked.
func TestN3_PossibleLeaksOfAnInterruptedADDAreLogged(t *testing.T) {
	t.Parallel()
	a := StartAgent(t)
	a.Says("ADD", Hangs)
	c := a.N.CRI()
	config := c.Pod("web")
	go func() { _, _ = c.RunPod(context.Background(), config) }() // ends with the runtime
	RequireSoon(a, "the ADD to hang", func(context.Context) error {
		_, err := os.Stat(filepath.Join(a.Dir(), "hangs"))
		return err
	})
	require.Len(t, a.AddressesTaken("blue"), 1)
	require.NoError(t, a.N.Kill(WithinAMinute(t)))
	a.WriteConfig("10-conformance.conflist", a.NetworkConfig("green", "10.90.0.0/24"))
	require.NoError(t, a.N.Boot(WithinAMinute(t)))
	pods, err := a.N.CRI().Pods(WithinAMinute(t))
	require.NoError(t, err)
	Promise(t, "N3", "a pod whose ADD was interrupted can be removed without its network", KeptOnStock, func(t require.TestingT) {
		for _, pod := range pods {
			a.RequirePodEnds(t, pod.GetId())
		}
	})
	Promise(t, "N3", "the log says what the pod may have leaked", OnStock("it does not"), func(t require.TestingT) {
		log, err := a.N.Log()
		require.NoError(t, err)
		assert.Contains(t, log, "may have leaked: its creation was interrupted")
	})
}

// A plugin of the chain fails its ADD and its DEL: resources of the plugins before it are freed.
func TestN3_ChainThatFailedHalfWayIsUndone(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{"fails": Fails, "has nothing to delete": NotFound} {
		t.Run(name, func(t *testing.T) {
			a := StartAgent(t)
			a.Says("ADD", Fails)
			a.Says("DEL", script)
			_, err := a.TryRunPod(a.N.CRI().Pod("web"))
			require.ErrorContains(t, err, "out of luck")
			Promise(t, "N3", "resources of the plugins before the one that failed are freed", OnStock("these plugins receive no DEL"), func(t require.TestingT) {
				a.RequireNoAddressTaken(t, "blue")
				RequireNothingLeft(t, a.N)
			})
			a.Says("ADD", "")
			a.Says("DEL", "")
			a.RequirePodEnds(t, a.RunPod("web"))
		})
	}
}

// A pod is added to one of two networks, and at first cannot be removed from it: the runtime keeps
// the pod.
func TestN3_PodThatCannotBeTakenOffItsNetworkIsKept(t *testing.T) {
	t.Parallel()
	a := StartAgent(t, "max_conf_num = 2")
	a.WriteConfig("20-more.conflist", `{"cniVersion": "1.1.0", "name": "more", "plugins": [{"type": "conformance-agent"}]}`)
	RequireSoon(a, "both to be loaded", func(ctx context.Context) error { return a.HasLoaded(ctx, "more") })
	a.Says("ADD", `[ "$CNI_IFNAME" = eth1 ] && { `+Fails+`; }`)
	a.Says("DEL", `[ "$CNI_IFNAME" = eth0 ] && { `+Fails+`; }`)
	_, err := a.TryRunPod(a.N.CRI().Pod("web"))
	require.ErrorContains(t, err, "out of luck")
	require.Len(t, a.AddressesTaken("blue"), 1)
	a.Says("DEL", "")
	pods, err := a.N.CRI().Pods(WithinAMinute(t))
	require.NoError(t, err)
	Promise(t, "N3", "a pod that could not be removed from its network is listed as not Ready", OnStock("it is forgotten"), func(t require.TestingT) {
		require.Len(t, pods, 1)
		assert.Equal(t, runtime.PodSandboxState_SANDBOX_NOTREADY, pods[0].GetState())
	})
	Promise(t, "N3", "the pod can be ended later, and its address is freed", OnStock("its address leaks"), func(t require.TestingT) {
		for _, pod := range pods {
			a.RequirePodEnds(t, pod.GetId())
		}
		a.RequireNoAddressTaken(t, "blue")
		RequireNothingLeft(t, a.N)
	})
}
