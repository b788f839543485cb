// SPDX-License-Identifier: Apache-2.0

package network

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
)

// The errors and metrics of pods that are rejected while STATUS fails or hangs. A case in
// conformance/cases asserts that nothing else is rejected.
func TestN2_RejectionsWhileStatusFailsAreReadableAndCounted(t *testing.T) {
	t.Parallel()
	const getsADD, notCounted = "ADD runs for the pod, or waits", "they are not counted"
	for name, s := range map[string]struct{ script, message, counted string }{
		"cannot add": {TakesNone, "agent is down", `{code="50",network="blue",state="not_available"}`},
		"hangs":      {Hangs, "no answer within 2s", `{code="0",network="blue",state="timed_out"}`},
	} {
		t.Run(name, func(t *testing.T) {
			a := StartAgent(t, "status_timeout = '2s'")
			a.Says("STATUS", s.script)
			if !RunsOnStock { // stock waits for a STATUS that hangs, and tries each pod
				a.RequireNetworkDown(t, s.message)
			}
			_, errNew := a.TryRunPod(a.N.CRI().Pod("new"))
			Promise(t, "N2", "a pod that needs the network is rejected, and the error says why", OnStock(getsADD), func(t require.TestingT) {
				require.Equal(t, codes.Unavailable, status.Code(errNew), errNew)
				assert.ErrorContains(t, errNew, "pod default/new needs the network")
				assert.ErrorContains(t, errNew, s.message)
			})
			Promise(t, "N2", "rejected pods are counted", OnStock(notCounted), func(t require.TestingT) {
				counted, err := a.N.Metrics(WithinAMinute(a.T), "containerd_cri_network_rejected_pods_total")
				require.NoError(t, err)
				assert.Equal(t, map[string]float64{`{handler="default"}`: 1}, counted)
			})
			Promise(t, "N1", "answers of STATUS are counted", OnStock(notCounted), func(t require.TestingT) {
				RequireSoon(t, "the count, which follows the status", func(ctx context.Context) error {
					answers, err := a.N.Metrics(ctx, "containerd_cri_network_status_checks_total")
					if err == nil && answers[s.counted] <= 0 {
						err = fmt.Errorf("answers are %v", answers)
					}
					return err
				})
			})
		})
	}
}

func TestN2_PodsAreTriedIfTheGateIsOff(t *testing.T) {
	t.Parallel()
	a := StartAgent(t, "status_gate = false")
	a.Says("STATUS", TakesNone)
	a.RequireNetworkDown(t, "agent is down")
	a.RequirePodEnds(t, a.RunPod("new"))
	assert.Equal(t, 1, a.TimesAsked("ADD", "new"))
}
