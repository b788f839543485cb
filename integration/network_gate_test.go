// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// While STATUS fails no ADD is tried, and what needs no network goes on.
func TestN2_PodsAreRefusedWhileStatusFails(t *testing.T) {
	t.Parallel()
	const getsADD, notCounted = "it gets its ADD, or waits", "they are not"
	for name, s := range map[string]struct {
		script, message, counted string
		notReady                 breach
	}{
		"cannot add": {takesNone, "agent is down", `{code="50",network="blue",state="not_available"}`, keptOnStock},
		"hangs":      {hangs, "no answer within 2s", `{code="0",network="blue",state="timed_out"}`, onStock("the call waits")},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAgent(t, "status_timeout = '2s'")
			old := a.runPod("old")
			a.says("STATUS", s.script)
			c := a.n.CRI()
			promise(t, "N1", "NetworkReady is false", s.notReady, func(t require.TestingT) { a.requireNetworkDown(t, s.message) })
			_, errNew := a.tryRunPod(c.Pod("new"))
			promise(t, "N2", "a pod that needs the network is refused, and the error says why", onStock(getsADD), func(t require.TestingT) {
				require.Equal(t, codes.Unavailable, status.Code(errNew), errNew)
				assert.ErrorContains(t, errNew, "pod default/new needs the network")
				assert.ErrorContains(t, errNew, s.message)
			})
			promise(t, "N2", "no ADD is tried", onStock(getsADD), func(t require.TestingT) { assert.Zero(t, a.timesAsked("ADD", "new")) })
			promise(t, "N2", "refused pods are counted", onStock(notCounted), func(t require.TestingT) {
				counted, err := a.n.Metrics(withinAMinute(a.T), "containerd_cri_network_refused_pods_total")
				require.NoError(t, err)
				assert.Equal(t, map[string]float64{`{handler="default"}`: 1}, counted)
			})
			promise(t, "N1", "answers of STATUS are counted", onStock(notCounted), func(t require.TestingT) {
				answers, err := a.n.Metrics(withinAMinute(a.T), "containerd_cri_network_status_checks_total")
				require.NoError(t, err)
				assert.Positive(t, answers[s.counted], answers)
			})
			promise(t, "N2", "a pod in the host's network comes and goes", keptOnStock, func(t require.TestingT) {
				host := c.Pod("host")
				host.Hostname = ""
				host.Linux.SecurityContext.NamespaceOptions.Network = runtime.NamespaceMode_NODE
				pod, err := a.tryRunPod(host)
				require.NoError(t, err)
				a.requirePodEnds(t, pod)
			})
			promise(t, "N3", "a pod of before ends", keptOnStock, func(t require.TestingT) { a.requirePodEnds(t, old) })
			promise(t, "N2", "nothing is left of the pod that was refused", onStock(getsADD), func(t require.TestingT) { requireNothingLeft(t, a.n) })

			a.says("STATUS", "")
			promise(t, "N2", "STATUS is asked once more for a pod", onStock("it is there"), func(t require.TestingT) {
				pod, err := a.tryRunPod(c.Pod("new"))
				require.NoError(t, err)
				a.requirePodEnds(t, pod)
				a.requireNoAddressTaken(t, "blue")
			})
		})
	}
}

func TestN2_PodsAreTriedIfTheGateIsOff(t *testing.T) {
	t.Parallel()
	a := newAgent(t, "status_gate = false")
	a.says("STATUS", takesNone)
	a.requireNetworkDown(t, "agent is down")
	a.requirePodEnds(t, a.runPod("new"))
	assert.Equal(t, 1, a.timesAsked("ADD", "new"))
}
