// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/containerd/nri/pkg/api"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/hookline-nri/hookline/integration/plugin"
)

func TestL17_ErrorOfARefusedPodSaysWhoRefusedIt(t *testing.T) {
	t.Parallel()
	for _, refusal := range []struct {
		name string
		err  error
		code codes.Code
		text string
	}{
		{"without a code", errors.New("no room for it"), codes.FailedPrecondition, "no room for it"},
		{"with a code", status.Error(codes.ResourceExhausted, "out of addresses"), codes.ResourceExhausted, "out of addresses"},
	} {
		t.Run(refusal.name, func(t *testing.T) {
			n := startTarget(t)
			agrees, refuses := plugin.New("10", "agrees"), plugin.New("20", "refuses")
			refuses.On(plugin.RunPodSandbox, refusesWith(refusal.err))
			connect(t, n, agrees, refuses)

			_, err := n.CRI().RunPod(withinAMinute(t), n.CRI().Pod("refused"))

			require.ErrorContains(t, err, refusal.text)
			promise(t, "L17", "the error names pod and plugin, and has the right code", onStock("it names neither, and has no code of its own"), func(t require.TestingT) {
				requireReadable(t, err, refusal.code, "pod default/refused: plugin 20-refuses refused RunPodSandbox: "+refusal.text)
			})
		})
	}
}

func TestL17_ErrorOfARefusedContainerSaysWhoRefusedIt(t *testing.T) {
	t.Parallel()
	n := startTarget(t)
	refuses := plugin.New("10", "refuses")
	connect(t, n, refuses)
	l := newLife(t, n, "kept")
	ctx, c := withinAMinute(t), n.CRI()
	for _, request := range []struct {
		event plugin.Event
		send  func() error
		of    string
	}{
		{plugin.CreateContainer, func() error {
			_, err := c.Create(ctx, l.pod, c.Pod("kept"), c.Container("second"))
			return err
		}, "container second of pod default/kept"},
		{plugin.UpdateContainer, func() error {
			_, err := c.Runtime.UpdateContainerResources(ctx, &runtime.UpdateContainerResourcesRequest{
				ContainerId: l.container,
				Linux:       &runtime.LinuxContainerResources{CpuShares: 512},
			})
			return err
		}, "container main of pod default/kept"},
		{plugin.UpdatePodSandbox, func() error {
			_, err := c.Runtime.UpdatePodSandboxResources(ctx, &runtime.UpdatePodSandboxResourcesRequest{
				PodSandboxId: l.pod,
				Resources:    &runtime.LinuxContainerResources{CpuShares: 512},
			})
			return err
		}, "pod default/kept"},
	} {
		t.Run(string(request.event), func(t *testing.T) {
			refuses.On(request.event, plugin.Fail("not here"))
			err := request.send()
			require.ErrorContains(t, err, "not here")
			promise(t, "L17", "the error names object and plugin, and has a code", onStock("it does not name the plugin and has no code"), func(t require.TestingT) {
				requireReadable(t, err, codes.FailedPrecondition, fmt.Sprintf("%s: plugin 10-refuses refused %s: not here", request.of, request.event))
			})
		})
	}
	l.end(t)
}

func TestL16_PodIsRefusedIfARequiredPluginDoesNotAnswer(t *testing.T) {
	t.Parallel()
	n := startTarget(t, timeouts{request: 300 * time.Millisecond})
	hangs, gate := plugin.New("10", "hangs"), plugin.NewGate()
	defer gate.Release()
	hangs.FailurePolicy(&api.FailurePolicy{FailRequest: true})
	hangs.On(plugin.RunPodSandbox, gate.Hold)
	connect(t, n, hangs)

	_, err := n.CRI().RunPod(withinAMinute(t), n.CRI().Pod("late"))

	promise(t, "L16", "a pod whose required plugin does not answer is refused, and the error says so", onStock("it runs without it"), func(t require.TestingT) {
		requireReadable(t, err, codes.DeadlineExceeded, "pod default/late: plugin 10-hangs failed to handle RunPodSandbox request: no answer within 300ms")
	})
}
