// SPDX-License-Identifier: Apache-2.0

package cases

import (
	"errors"
	"fmt"
	"time"

	"github.com/containerd/nri/pkg/api"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

var _ = Pod.has("L17_ErrorOfARejectedPodNamesThePlugin", Needs{}, func(t T) {
	for _, rejection := range []struct {
		name string
		err  error
		code codes.Code
		text string
	}{
		{"without a code", errors.New("no room for it"), codes.FailedPrecondition, "no room for it"},
		{"with a code", status.Error(codes.ResourceExhausted, "out of addresses"), codes.ResourceExhausted, "out of addresses"},
	} {
		t.Run(rejection.name, func(t T) {
			n := t.Runtime()
			agrees, rejects := NewPlugin(t, "10", "agrees"), NewPlugin(t, "20", "rejects")
			rejects.On(plugin.RunPodSandbox, RejectsWith(rejection.err))
			Connect(t, n, agrees, rejects)

			_, err := n.CRI().RunPod(WithinAMinute(t), n.CRI().Pod("rejected"))

			require.ErrorContains(t, err, rejection.text)
			t.Promise("L17", "the error names pod and plugin, and has the right code", OnStock("it names neither, and has no code of its own"), func(t require.TestingT) {
				RequireReadable(t, err, rejection.code, "default/rejected", rejects.Name(), "RunPodSandbox", rejection.text)
			})
			t.Words("L17", "it is one sentence", OnStock("it names neither"), func(t require.TestingT) {
				assert.ErrorContains(t, err, "pod default/rejected: plugin "+rejects.Name()+" rejected RunPodSandbox: "+rejection.text)
			})
		})
	}
})

var _ = Container.has("L17_ErrorOfARejectedContainerNamesThePlugin", Needs{}, func(t T) {
	n := t.Runtime()
	rejects := NewPlugin(t, "10", "rejects")
	Connect(t, n, rejects)
	l := NewLife(t, n, "kept")
	ctx, c := WithinAMinute(t), n.CRI()
	for _, request := range []struct {
		event     plugin.Event
		send      func() error
		container string // the request's container, empty for a request of the pod
	}{
		{plugin.CreateContainer, func() error {
			_, err := c.Create(ctx, l.Pod, c.Pod("kept"), c.Container("second"))
			return err
		}, "second"},
		{plugin.UpdateContainer, func() error {
			_, err := c.Runtime.UpdateContainerResources(ctx, &runtime.UpdateContainerResourcesRequest{
				ContainerId: l.Container,
				Linux:       &runtime.LinuxContainerResources{CpuShares: 512},
			})
			return err
		}, "main"},
		{plugin.UpdatePodSandbox, func() error {
			_, err := c.Runtime.UpdatePodSandboxResources(ctx, &runtime.UpdatePodSandboxResourcesRequest{
				PodSandboxId: l.Pod,
				Resources:    &runtime.LinuxContainerResources{CpuShares: 512},
			})
			return err
		}, ""},
	} {
		t.Run(string(request.event), func(t T) {
			rejects.On(request.event, plugin.Fail("not here"))
			err := request.send()
			of := "pod default/kept"
			if request.container != "" {
				of = "container " + request.container + " of " + of
			}
			require.ErrorContains(t, err, "not here")
			t.Promise("L17", "the error names object and plugin, and has a code", OnStock("it does not name the plugin and has no code"), func(t require.TestingT) {
				RequireReadable(t, err, codes.FailedPrecondition, request.container, "default/kept", rejects.Name(), string(request.event), "not here")
			})
			t.Words("L17", "it is one sentence", OnStock("it does not name the plugin"), func(t require.TestingT) {
				assert.ErrorContains(t, err, fmt.Sprintf("%s: plugin %s rejected %s: not here", of, rejects.Name(), request.event))
			})
		})
	}
	l.End(t)
})

var _ = Pod.has("L16_PodIsRejectedIfARequiredPluginDoesNotAnswer", Within(time.Second), func(t T) {
	n := t.Runtime()
	timeout, _ := n.Timeouts()
	hangs, gate := NewPlugin(t, "10", "hangs"), plugin.NewGate()
	defer gate.Release()
	hangs.FailurePolicy(&api.FailurePolicy{FailRequest: true})
	hangs.On(plugin.RunPodSandbox, gate.Hold)
	Connect(t, n, hangs)

	_, err := n.CRI().RunPod(WithinAMinute(t), n.CRI().Pod("late"))

	t.Promise("L16", "a pod whose required plugin does not answer is rejected, and the error says so", OnStock("it runs without it"), func(t require.TestingT) {
		RequireReadable(t, err, codes.DeadlineExceeded, "default/late", hangs.Name(), "RunPodSandbox", timeout.String())
	})
	t.Words("L16", "the error is one sentence", OnStock("there is no error"), func(t require.TestingT) {
		assert.ErrorContains(t, err, "pod default/late: plugin "+hangs.Name()+" failed to handle RunPodSandbox request: no answer within "+timeout.String())
	})
})
