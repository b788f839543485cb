// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/containerd/errdefs"
	"github.com/containerd/go-cni"
	"github.com/stretchr/testify/require"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	core "github.com/containerd/containerd/v2/core/sandbox"
	criconfig "github.com/containerd/containerd/v2/internal/cri/config"
	crinri "github.com/containerd/containerd/v2/internal/cri/nri"
	"github.com/containerd/containerd/v2/internal/cri/server/podsandbox"
	containerstore "github.com/containerd/containerd/v2/internal/cri/store/container"
	sandboxstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
	"github.com/containerd/containerd/v2/internal/cri/util"
	"github.com/containerd/containerd/v2/internal/nri"
	"github.com/containerd/nri/pkg/adaptation"
)

// networkByPlugin is NRI with a plugin that gives pods their network.
type networkByPlugin struct {
	nri.API
	gates []nri.NetworkGate
}

func (*networkByPlugin) IsEnabled() bool                   { return true }
func (*networkByPlugin) NetworkPlugin() string             { return "net" }
func (p *networkByPlugin) NetworkGates() []nri.NetworkGate { return p.gates }

func withNetworkByPlugin(t *testing.T, gates ...nri.NetworkGate) *criService {
	c, _ := withNetwork(t, "")
	c.nri = crinri.NewAPI(&networkByPlugin{gates: gates}, &criImplementation{c})
	return c
}

func onNetwork(mode runtime.NamespaceMode) *runtime.PodSandboxConfig {
	return &runtime.PodSandboxConfig{
		Metadata: &runtime.PodSandboxMetadata{Name: "web", Namespace: "shop"},
		Linux:    &runtime.LinuxPodSandboxConfig{SecurityContext: &runtime.LinuxSandboxSecurityContext{NamespaceOptions: &runtime.NamespaceOption{Network: mode}}},
	}
}

// Pods have their network of the plugin, unless they are on the host's network or their runtime handler has
// a network of CNI.
func TestWhichPodsHaveTheirNetworkOfAPlugin(t *testing.T) {
	c := withNetworkByPlugin(t)
	c.netPlugin["vm"] = c.netPlugin[defaultNetworkPlugin]
	own, host := onNetwork(runtime.NamespaceMode_POD), onNetwork(runtime.NamespaceMode_NODE)
	for _, handler := range []string{"", "runc", defaultNetworkPlugin} {
		require.Equal(t, &sandboxstore.GivenNetwork{Plugin: "net"}, c.givenNetwork(own, handler), handler)
	}
	require.Nil(t, c.givenNetwork(own, "vm"))
	require.Nil(t, c.givenNetwork(host, ""))
	c.nri = nil
	require.Nil(t, c.givenNetwork(own, ""))
}

// The network is recorded before other plugins receive its addresses, in the order that the settings prefer.
func TestGivenNetworkIsRecorded(t *testing.T) {
	for preference, want := range map[string][]string{
		"":     {"10.0.0.7", "fd00::7", "10.0.0.8"},
		"ipv6": {"fd00::7", "10.0.0.7", "10.0.0.8"},
		"cni":  {"10.0.0.7", "fd00::7", "10.0.0.8"},
	} {
		t.Run(preference, func(t *testing.T) {
			c := withNetworkByPlugin(t)
			withRecords(t, c, "pod")
			c.config.IPPreference = preference
			updates := &updatedSandboxes{}
			c.sandboxService = updates
			sandbox := sandboxstore.NewSandbox(sandboxstore.Metadata{ID: "pod", NetNSPath: "/run/netns/pod", GivenNetwork: &sandboxstore.GivenNetwork{Plugin: "net"}}, sandboxstore.Status{})
			sandbox.Sandboxer = string(criconfig.ModePodSandbox)
			listed := c.creations.Begin(sandbox)
			defer listed.End()
			network := &adaptation.PodNetwork{}
			require.NoError(t, json.Unmarshal([]byte(`{"interfaces": [
				{"name": "eth0", "addresses": ["10.0.0.7/24", "fd00::7/64", "10.0.0.8/24"], "mac": "02:00:00:00:00:07"}, {"name": "rdma0", "addresses": ["10.1.0.7/24"]}],
				"routes": [{"destination": "0.0.0.0/0", "gateway": "10.0.0.1"}, {"destination": "10.2.0.0/16"}], "dns": {"servers": ["10.0.0.2"], "domain": "shop", "searches": ["a"], "options": ["ndots:5"]}}`), network))
			ips, err := (&criImplementation{c}).TakeNetwork(util.NamespacedContext(), &sandbox, network)
			require.NoError(t, err)
			require.Equal(t, want, ips)
			require.Equal(t, want, append([]string{sandbox.IP}, sandbox.AdditionalIPs...))
			require.Nil(t, sandbox.CNIResult)
			require.Equal(t, want[0], c.creations.List()[0].IP)

			var recorded sandboxstore.Metadata
			record, err := c.client.SandboxStore().Get(util.NamespacedContext(), "pod")
			require.NoError(t, err)
			require.NoError(t, record.GetExtension(podsandbox.MetadataKey, &recorded))
			require.Equal(t, want[0], recorded.IP)
			require.Equal(t, "net", recorded.GivenNetwork.Plugin)
			require.Equal(t, []string{podsandbox.NetworkKey}, updates.fields)

			result := recorded.NetworkResult()
			require.Equal(t, "02:00:00:00:00:07", result.Interfaces["eth0"].Mac)
			require.Equal(t, "/run/netns/pod", result.Interfaces["eth0"].Sandbox)
			require.Len(t, result.Interfaces["eth0"].IPConfigs, 3)
			require.Equal(t, "10.1.0.7", result.Interfaces["rdma0"].IPConfigs[0].IP.String())
			require.Equal(t, "10.0.0.1", result.Routes[0].GW.String())
			require.Equal(t, "10.2.0.0/16", result.Routes[1].Dst.String())
			require.Nil(t, result.Routes[1].GW)
			require.Equal(t, []string{"10.0.0.2"}, result.DNS[0].Nameservers)
			require.Equal(t, []string{"ndots:5"}, result.DNS[0].Options)
		})
	}
}

// updatedSandboxes notes the fields of updates.
type updatedSandboxes struct {
	sandboxService
	fields []string
}

func (u *updatedSandboxes) UpdateSandbox(_ context.Context, _, _ string, _ core.Sandbox, fields ...string) error {
	u.fields = append(u.fields, fields...)
	return nil
}

// CNI is not asked to detach a pod whose network it did not make, whatever the settings are by then.
func TestGivenNetworkNeedsNoDEL(t *testing.T) {
	c := newTestCRIService()
	c.netPlugin = nil
	given := sandboxstore.NewSandbox(sandboxstore.Metadata{ID: "pod", GivenNetwork: &sandboxstore.GivenNetwork{Plugin: "net"}}, sandboxstore.Status{})
	require.NoError(t, c.teardownPodNetwork(t.Context(), given))
	require.Nil(t, given.NetworkResult())
	attached := sandboxstore.NewSandbox(sandboxstore.Metadata{ID: "pod", CNIResult: &cni.Result{}}, sandboxstore.Status{})
	require.ErrorContains(t, c.teardownPodNetwork(t.Context(), attached), "cni config not initialized")
	require.NotNil(t, attached.NetworkResult())
}

// NetworkReady has the reason of CNI's codes, and pods are rejected with the plugin's words.
func TestStatusOfThePluginOfTheNetwork(t *testing.T) {
	for code, reason := range map[uint32]string{50: "NetworkNotAvailable", 51: "NetworkDegraded", 7: "NetworkStatusError"} {
		gate := nri.NetworkGate{Plugin: "net", Closed: true, Network: &adaptation.PodNetworkStatus{Code: code, Message: "no uplink"}}
		condition := &runtime.RuntimeCondition{Status: true}
		gateNetwork([]nri.NetworkGate{{Plugin: "open"}, gate}, condition)
		require.False(t, condition.Status)
		require.Equal(t, reason, condition.Reason)
		require.Contains(t, condition.Message, "plugin net takes no pods: no uplink")

		c := withNetworkByPlugin(t, gate)
		err := c.admitToNetwork(t.Context(), onNetwork(runtime.NamespaceMode_POD), "")
		require.ErrorIs(t, err, errdefs.ErrUnavailable)
		require.ErrorContains(t, err, "pod shop/web needs the network: plugin net takes no pods: no uplink")
		require.NoError(t, c.admitToNetwork(t.Context(), onNetwork(runtime.NamespaceMode_NODE), ""))
	}
	// CNI has no configuration here, and is not asked. A plugin that is disconnected is awaited later.
	c := withNetworkByPlugin(t, nri.NetworkGate{Plugin: "net", Closed: true})
	require.NoError(t, c.admitToNetwork(t.Context(), onNetwork(runtime.NamespaceMode_POD), ""))
	c = withNetworkByPlugin(t, nri.NetworkGate{Plugin: "net", Closed: true, Network: &adaptation.PodNetworkStatus{Code: 50}})
	c.netPlugin["vm"] = c.netPlugin[defaultNetworkPlugin]
	require.ErrorContains(t, c.admitToNetwork(t.Context(), onNetwork(runtime.NamespaceMode_POD), "vm"), "cni plugin not initialized")
}

// A sandbox whose plugin may have taken the network down is not ready after a restart, and its stop is still to
// be delivered. It takes no containers.
func TestStopOfAGivenNetworkIsNoted(t *testing.T) {
	for name, tc := range map[string]struct {
		given     *sandboxstore.GivenNetwork
		container containerstore.Status
		state     sandboxstore.State
		phase     sandboxstore.Phase
	}{
		"given":  {&sandboxstore.GivenNetwork{Plugin: "net"}, hasExited, sandboxstore.StateUnknown, sandboxstore.PhaseStopping},
		"by CNI": {nil, hasExited, sandboxstore.StateReady, ""},
		"given, and another containerd has started a container since": {&sandboxstore.GivenNetwork{Plugin: "net"}, runsNow, sandboxstore.StateReady, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c := newTestCRIService()
			c.phases = sandboxstore.NewPhases(t.TempDir())
			sandbox := sandboxstore.NewSandbox(sandboxstore.Metadata{ID: "pod", Config: onNetwork(runtime.NamespaceMode_POD), GivenNetwork: tc.given}, sandboxstore.Status{State: sandboxstore.StateReady})
			c.noteStop(t.Context(), &sandbox)

			recovered := sandboxstore.NewSandbox(sandbox.Metadata, sandboxstore.Status{State: sandboxstore.StateReady})
			require.NoError(t, c.sandboxStore.Add(recovered))
			container, err := containerstore.NewContainer(containerstore.Metadata{ID: "c", Name: "c", SandboxID: "pod"}, containerstore.WithFakeStatus(tc.container))
			require.NoError(t, err)
			require.NoError(t, c.containerStore.Add(container))
			c.recoverPhases(t.Context())
			require.Equal(t, tc.state, recovered.Status.Get().State)
			require.Equal(t, tc.phase, recovered.Status.Get().Phase)
			require.Equal(t, tc.phase != "", notReady(recovered.Status.Get()))
			require.Equal(t, tc.phase != "", rejectStopped(&recovered) != nil)

			c.stopPhase(t.Context(), &recovered)
			c.noteStop(t.Context(), &recovered)
			phases, _ := c.phases.Load()
			require.Equal(t, sandboxstore.PhaseStopped, phases["pod"])
		})
	}
}
