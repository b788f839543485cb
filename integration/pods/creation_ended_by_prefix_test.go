// SPDX-License-Identifier: Apache-2.0

package pods

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/testkit/cri"
	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// short is an id as crictl prints it.
func short(id string) string { return id[:13] }

// ends are the ways to end a pod.
var ends = map[string]func(*cri.Client, context.Context, string) error{
	"stopped": (*cri.Client).StopPod,
	"removed": (*cri.Client).RemovePod,
}

// A pod that is being created is found by a shortened id, at any step of its creation.
func TestL11_PodThatIsBeingCreatedCanBeEndedByAShortenedID(t *testing.T) {
	t.Parallel()
	missed := OnStock("it is not found, and becomes Ready")
	for done, end := range ends {
		t.Run("in its ADD "+done, func(t *testing.T) {
			n := StartNode(t)
			ctx, c := WithinAMinute(t), n.CRI()
			add, ran := HoldCreation(ctx, t, n, node.After("ptp", "ADD"), c.Pod("unwanted"))
			records, err := n.Containerd().SandboxStore().List(ctx)
			require.NoError(t, err)
			require.Len(t, records, 1)
			errEnd := end(c, ctx, short(records[0].ID))
			require.NoError(t, add.Release())
			errRan := <-ran
			Promise(t, "L11", "a pod in its ADD is "+done+" by a shortened id", missed, func(t require.TestingT) {
				require.NoError(t, errEnd)
				assert.ErrorContains(t, errRan, "was "+done+" while it was being created")
				RequireNothingLeft(t, n)
			})
		})
		t.Run("in its hook "+done, func(t *testing.T) {
			n := StartNode(t, WithNeeds(Patient))
			p := plugin.New("10", "holds")
			Connect(t, n, p)
			pod := NewInHook(t, n, p, "unwanted")
			ctx, c := WithinAMinute(t), n.CRI()
			_, errStatus := c.Runtime.PodSandboxStatus(ctx, &runtime.PodSandboxStatusRequest{PodSandboxId: short(pod.ID)})
			_, errCreate := c.Create(ctx, short(pod.ID), pod.Config, c.Container("early"))
			ended := InBackground(func() error { return end(c, ctx, short(pod.ID)) })
			if !RunsOnStock {
				RequireWaiting(t, n, p, 1) // the stop of the pod
			}
			pod.Gate.Release()
			errRan, errEnded := <-pod.Ran, <-ended
			Promise(t, "L6", "a pod in its hook has no status under a shortened id", KeptOnStock, func(t require.TestingT) {
				assert.Equal(t, codes.NotFound, status.Code(errStatus), "%v", errStatus)
			})
			Promise(t, "L6", "CreateContainer in it is rejected, and the error says why", OnStock("the error is NotFound"), func(t require.TestingT) {
				RequireReadable(t, errCreate, codes.FailedPrecondition, "is still being created")
			})
			Promise(t, "L11", "a pod in its hook is "+done+" by a shortened id", missed, func(t require.TestingT) {
				require.NoError(t, errEnded)
				assert.ErrorContains(t, errRan, "was "+done+" while it was being created")
				RequireNothingLeft(t, n)
			})
		})
	}
}
