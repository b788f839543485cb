// SPDX-License-Identifier: Apache-2.0

package pods

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// During the hook the pod has everything that a Ready pod has. After the stop it has only what the
// removal needs.
func TestL10_PodIsIntactInItsStopHook(t *testing.T) {
	t.Parallel()
	n := StartNode(t, WithNeeds(Patient))
	ctx, c := WithinAMinute(t), n.CRI()
	p := plugin.New("10", "looks")
	var inside []node.Leftover
	p.On(plugin.StopPodSandbox, func(hook context.Context, call *plugin.Call) (err error) {
		if err := AgreesIfNetworkStands(n)(hook, call); err != nil {
			return err
		}
		inside, err = n.Leftovers(ctx)
		return err
	})
	Connect(t, n, p)
	l := NewLife(t, n, "stopped")
	require.NoError(t, c.Stop(ctx, l.Container, 0))
	require.NoError(t, c.Remove(ctx, l.Container))
	RequireSoon(t, "the end of the container", func(ctx context.Context) error {
		left, err := n.Leftovers(ctx)
		for _, item := range left {
			if item.Kind == "CRI container" {
				err = fmt.Errorf("%s exists", item)
			}
		}
		return err
	})
	ready, err := n.Leftovers(ctx)
	require.NoError(t, err)

	require.NoError(t, c.StopPod(ctx, l.Pod))

	gone := []string{"address", "attachment", "bundle", "cgroup", "link", "mount", "network file", "network namespace", "process", "runc state", "shim socket"}
	RequireSoon(t, "the stop to release its resources", func(context.Context) error {
		for _, kind := range KindsLeft(t, n) {
			if slices.Contains(gone, kind) {
				return fmt.Errorf("some %s is left", kind)
			}
		}
		return nil
	})
	require.NoError(t, c.RemovePod(ctx, l.Pod))
	RequireNothingLeft(t, n)
	stop := p.Calls().Of(l.Pod).Only(plugin.StopPodSandbox)
	require.Len(t, stop, 1)
	require.NoError(t, stop[0].Err, "the check of the network")
	var had []string
	for _, item := range ready {
		had = append(had, item.Kind)
	}
	require.Subset(t, had, gone)
	Promise(t, "L10", "all of a pod exists when plugins receive its stop", OnStock("the process and the mounts of the sandbox are gone"), func(t require.TestingT) {
		assert.Equal(t, Lines(ready), Lines(inside))
	})
}

// Plugins receive the removal while the kubelet still sees the pod, and when only its place in the
// list and its record are left.
func TestL12_RemovalIsDeliveredWhileThePodIsListed(t *testing.T) {
	t.Parallel()
	n := StartNode(t, WithNeeds(Patient))
	p := plugin.New("10", "looks")
	var inside []string
	var listed []*runtime.PodSandbox
	p.On(plugin.RemovePodSandbox, func(ctx context.Context, call *plugin.Call) (err error) {
		listed, err = n.CRI().Pods(ctx)
		inside = KindsLeft(t, n)
		return err
	})
	Connect(t, n, p)
	ctx, c := WithinAMinute(t), n.CRI()
	pod, err := c.RunPod(ctx, c.Pod("removed"))
	require.NoError(t, err)
	require.NoError(t, c.StopPod(ctx, pod))

	require.NoError(t, c.RemovePod(ctx, pod))

	require.Empty(t, CallsThatShow(ctx, t, n, pod))
	require.Equal(t, Undone, p.Calls().Of(pod).Events())
	require.Len(t, listed, 1)
	require.Equal(t, pod, listed[0].GetId())
	RequireNothingLeft(t, n)
	Promise(t, "L12", "only the pod's place in the list and its record are left when plugins receive its removal", KeptOnStock, func(t require.TestingT) {
		shims := []string{"process", "shim socket"} // these end by themselves
		assert.Subset(t, append(shims, "CRI pod", "sandbox record"), inside)
		assert.Contains(t, inside, "sandbox record", "with it, a runtime that is killed now delivers the removal again")
	})
}
