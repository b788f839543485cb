// SPDX-License-Identifier: Apache-2.0

package cases

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/plugin/podnetwork"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// The plugin that gives a pod its network is asked before those of lower indices. They, CRI and a plugin
// that joins later have the addresses.
var _ = Given.has("N5_PluginGivesThePodItsNetwork", Needs{GivenNetwork: true}, func(t T) {
	n := t.Runtime()
	ctx, c := WithinAMinute(t), n.CRI()
	first, net, last := NewPlugin(t, "10", "first"), NewNetworkPlugin(t, "50"), NewPlugin(t, "90", "last")
	Connect(t, n, first, net, last)
	pod, err := c.RunPod(ctx, c.Pod("given"))
	require.NoError(t, err)
	want := GivenAddresses(1)
	t.Promise("N5", "CRI has the addresses of the plugin's reply", OnStock(NoGivenNetwork), func(t require.TestingT) { RequireAddresses(ctx, t, n, pod, want...) })
	t.Promise("N5", "the other plugins receive the pod with the addresses", OnStock(NoGivenNetwork), func(t require.TestingT) {
		for _, p := range []*plugin.Plugin{first, last} {
			received := p.Calls().Of(pod).Only(plugin.RunPodSandbox)
			require.Len(t, received, 1)
			assert.Equal(t, want, received[0].Pod.GetIps(), p.Name())
		}
	})
	t.Promise("N5", "the plugin is asked first, and receives that the network is its own", OnStock(NoGivenNetwork), func(t require.TestingT) {
		asked := net.Calls().Of(pod).Only(plugin.RunPodSandbox)
		require.Len(t, asked, 1)
		assert.True(t, asked[0].End.Before(first.Calls().Of(pod).Only(plugin.RunPodSandbox)[0].Start))
		assert.Equal(t, NetworkPlugin, podnetwork.Plugin(asked[0].Pod))
		assert.Empty(t, asked[0].Pod.GetIps())
	})
	t.Words("N5", "the verbose status has interfaces, routes and DNS", OnStock(NoGivenNetwork), func(t require.TestingT) {
		r, err := c.Runtime.PodSandboxStatus(ctx, &runtime.PodSandboxStatusRequest{PodSandboxId: pod, Verbose: true})
		require.NoError(t, err)
		for _, text := range []string{`"Mac":"02:00:00:00:00:01"`, `"rdma0"`, "192.168.77.1", "10.77.0.1", "conformance.example"} {
			assert.Contains(t, r.GetInfo()["info"], text)
		}
	})
	t.Promise("N5", "a plugin that joins later receives the addresses, and that the network is not its own to make", OnStock(NoGivenNetwork), func(tt require.TestingT) {
		later := NewPlugin(t, "30", "later")
		Connect(t, n, later)
		pods := later.Calls().Only(plugin.Synchronize)[0].Pods
		require.Len(tt, pods, 1)
		assert.Equal(tt, want, pods[0].GetIps())
		assert.Equal(tt, NetworkPlugin, podnetwork.Plugin(pods[0]))
	})
	t.Promise("N5", "containers run in the pod, and all of it ends", KeptOnStock, func(t require.TestingT) {
		require.NoError(t, c.RemovePod(ctx, pod))
		RequireLife(ctx, t, n, c.Pod("whole"))
	})
})

// A reply without a network that a pod can have rejects the pod, before any other plugin is asked.
var _ = Given.has("N5_PodWithoutANetworkIsRejected", Needs{GivenNetwork: true}, func(t T) {
	wrong := GivenNetwork(1)
	wrong.Interfaces[0].Addresses = []string{"10.77.0.2"}
	for name, network := range map[string]*podnetwork.Network{"no network": nil, "no address": {}, "no prefix": wrong} {
		t.Run(name, func(t T) {
			n := t.Runtime()
			ctx, c := WithinAMinute(t), n.CRI()
			net, other := NewNetworkPlugin(t, "50"), NewPlugin(t, "10", "other")
			net.On(plugin.RunPodSandbox, func(_ context.Context, call *plugin.Call) error {
				call.Network = network
				return nil
			})
			Connect(t, n, net, other)
			pod, err := c.RunPod(ctx, c.Pod("rejected"))
			t.Promise("N5", "the pod is rejected with the name of the plugin", OnStock(NoGivenNetwork), func(t require.TestingT) {
				RequireReadable(t, err, codes.FailedPrecondition, NetworkPlugin)
			})
			t.Promise("N5", "no other plugin receives the pod", OnStock(NoGivenNetwork), func(t require.TestingT) {
				assert.Empty(t, other.Calls().Named("rejected").Events())
			})
			t.Promise("L7", "the plugin receives the end of what it may have made", OnStock(NoGivenNetwork), func(t require.TestingT) {
				assert.Equal(t, []plugin.Event{plugin.RunPodSandbox, plugin.StopPodSandbox, plugin.RemovePodSandbox}, net.Calls().Named("rejected").Events())
			})
			if err == nil {
				require.NoError(t, c.RemovePod(ctx, pod))
			}
			RequireNothingLeft(t, n)
		})
	}
})

// Without the plugin a pod waits, and is rejected. Pods on the host's network start. What another plugin
// replies is not looked at.
var _ = Given.has("N5_PodRequiresThePluginOfItsNetwork", Needs{GivenNetwork: true}, func(t T) {
	n := t.Runtime()
	ctx, c := WithinAMinute(t), n.CRI()
	other := NewPlugin(t, "10", "other")
	other.On(plugin.RunPodSandbox, func(_ context.Context, call *plugin.Call) error {
		call.Network = GivenNetwork(100)
		return nil
	})
	Connect(t, n, other)
	_, errWithout := c.RunPod(ctx, c.Pod("without"))
	t.Promise("N5", "a pod is rejected while the plugin is disconnected, whatever another one replies", OnStock(NoGivenNetwork), func(t require.TestingT) {
		RequireReadable(t, errWithout, codes.Unavailable, NetworkPlugin)
	})
	t.Promise("N5", "a pod on the host's network starts without it", KeptOnStock, func(t require.TestingT) {
		RequireLife(ctx, t, n, OnHostNetwork(c.Pod("host")))
	})
	net := NewNetworkPlugin(t, "90")
	Connect(t, n, net)
	pod, err := c.RunPod(ctx, c.Pod("with"))
	require.NoError(t, err)
	t.Promise("N5", "the addresses are those of the plugin that the operator has named", OnStock(NoGivenNetwork), func(t require.TestingT) {
		RequireAddresses(ctx, t, n, pod, GivenAddresses(1)...)
	})
	RemoveAllPods(ctx, t, c)
	RequireNothingLeft(t, n)
})

// The plugin takes the network down in StopPodSandbox, after the last container. If it was disconnected
// then, it receives the end later.
var _ = Given.has("N6_StopIsWhereTheNetworkGoes", Needs{GivenNetwork: true}, func(t T) {
	n := t.Runtime()
	ctx, c := WithinAMinute(t), n.CRI()
	net := NewNetworkPlugin(t, "50")
	var containers, named error
	var namespaces []string
	net.On(plugin.RunPodSandbox, func(_ context.Context, call *plugin.Call) error {
		call.Network, namespaces = GivenNetwork(1), seenNamespaces(call.Pod)
		return nil
	})
	net.On(plugin.StopPodSandbox, func(context.Context, *plugin.Call) error {
		containers = noneRuns(ctx, c.Runtime)
		for _, namespace := range namespaces {
			named = errors.Join(named, isNamespace(namespace))
		}
		return nil
	})
	Connect(t, n, net)
	l := NewLife(t, n, "stopped")
	require.NoError(t, c.StopPod(ctx, l.Pod))
	require.NoError(t, c.RemovePod(ctx, l.Pod))
	t.Promise("N6", "no container runs when the plugin receives the stop", KeptOnStock, func(t require.TestingT) { assert.NoError(t, containers) })
	t.Promise("N6", "the namespaces of the pod that have a path exist then", KeptOnStock, func(t require.TestingT) { assert.NoError(t, named) })

	missed, err := c.RunPod(ctx, c.Pod("missed"))
	require.NoError(t, err)
	net.Crash()
	require.NoError(t, c.StopPod(ctx, missed))
	require.NoError(t, c.RemovePod(ctx, missed))
	require.NoError(t, net.Connect(ctx, n.NRISocket()))
	t.Promise("N6", "a stop that the plugin has missed comes when it is back", OnStock(NeverHears), func(t require.TestingT) {
		RequireSoon(t, "the missed stop", func(context.Context) error { return HasAnsweredOf(net, missed, plugin.StopPodSandbox) })
	})
	RequireNothingLeft(t, n)
})

// aloneReady is how stock reports the network.
const aloneReady = "NetworkReady is CNI's"

// NetworkReady is false while the plugin is disconnected.
var _ = Given.has("N7_NetworkReadyIsThePresenceOfThePlugin", Needs{GivenNetwork: true}, func(t T) {
	n := t.Runtime()
	t.Promise("N7", "NetworkReady is false before the plugin connects", OnStock(aloneReady), isDown(n, "", "disconnected"))
	net := NewNetworkPlugin(t, "50")
	Connect(t, n, net)
	t.Promise("N7", "NetworkReady is true once it is connected, without CNI", KeptOnStock, func(t require.TestingT) { RequireNetworkReady(t, n) })
	net.Crash()
	t.Promise("N7", "NetworkReady is false once the plugin is disconnected for its grace time", OnStock(aloneReady), isDown(n, "", "disconnected"))
	RequireNothingLeft(t, n)
})

// isDown waits until the network is not ready because of the plugin. An empty reason stands for any.
func isDown(n Runtime, reason, message string) func(require.TestingT) {
	return func(t require.TestingT) {
		RequireNetwork(t, n, "not ready: "+message, func(c *runtime.RuntimeCondition) bool {
			of := strings.Contains(c.GetMessage(), NetworkPlugin) && strings.Contains(c.GetMessage(), message)
			return !c.GetStatus() && of && (reason == "" || c.GetReason() == reason)
		})
	}
}

// NetworkReady is false while the plugin says that its network takes no pods.
var _ = Given.has("N7_NetworkReadyIsTheStatusOfThePlugin", Needs{GivenNetwork: true}, func(t T) {
	n := t.Runtime()
	c, net := n.CRI(), NewNetworkPlugin(t, "50")
	Connect(t, n, net)
	old, err := c.RunPod(WithinAMinute(t), c.Pod("old"))
	require.NoError(t, err)
	const message = "the uplink is down"
	says := func(code uint32) { require.NoError(t, net.Network(&podnetwork.Status{Code: code, Message: message})) }
	says(podnetwork.NotAvailable)
	t.Promise("N7", "NetworkReady is false with the plugin's message", OnStock(aloneReady), isDown(n, "", message))
	t.Words("N7", "the reason depends on the code", OnStock(aloneReady), func(t require.TestingT) {
		isDown(n, "NetworkNotAvailable", message)(t)
		says(podnetwork.Limited)
		isDown(n, "NetworkDegraded", message)(t)
		says(7)
		isDown(n, "NetworkStatusError", message)(t)
	})
	ctx := WithinAMinute(t)
	began := time.Now()
	_, errNew := c.RunPod(ctx, c.Pod("new"))
	took := time.Since(began)
	t.Promise("N7", "a pod that needs the network is rejected at once, with the message", OnStock(aloneReady), func(t require.TestingT) {
		RequireReadable(t, errNew, codes.Unavailable, message)
		assert.Less(t, took, GivenNetworkWait)
		assert.Empty(t, net.Calls().Named("new").Events())
	})
	t.Promise("N7", "a pod that exists ends", KeptOnStock, func(t require.TestingT) { require.NoError(t, c.RemovePod(ctx, old)) })
	RemoveAllPods(ctx, t, c)
	t.Promise("N7", "a pod on the host's network starts", KeptOnStock, func(t require.TestingT) { RequireLife(ctx, t, n, OnHostNetwork(c.Pod("host"))) })

	net.Crash()
	require.NoError(t, net.Connect(ctx, n.NRISocket()))
	t.Promise("N7", "the status of its registration counts from then on", OnStock(aloneReady), isDown(n, "", message))
	says(0)
	t.Promise("N7", "NetworkReady is true once it says that pods are taken", KeptOnStock, func(t require.TestingT) { RequireNetworkReady(t, n) })
	RequireLife(WithinAMinute(t), t, n, c.Pod("last"))
})
