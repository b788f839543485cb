// SPDX-License-Identifier: Apache-2.0

package plugin_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/containerd/nri/pkg/api"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/hookline-nri/hookline/plugin"
	"github.com/hookline-nri/hookline/plugin/plugintest"
	"github.com/hookline-nri/hookline/plugin/podnetwork"
)

func networkWith(address string) *podnetwork.Network {
	return &podnetwork.Network{Interfaces: []*podnetwork.Interface{{Name: "eth0", Addresses: []string{address}}}}
}

// attachment is what a plugin holds for a pod.
type attachment struct{ Address string }

func (a attachment) PodNetwork() *podnetwork.Network {
	if a.Address == "" {
		return nil
	}
	return networkWith(a.Address)
}

func runPod(t *testing.T, r *plugintest.Runtime, id string) error {
	return r.NRI().RunPodSandbox(soon(t), &api.RunPodSandboxRequest{Pod: &api.PodSandbox{Id: id}})
}

// The network of a value of Pods is in each reply, also in that to an event that comes again, and to another
// process of the plugin.
func TestPodsGiveTheirNetwork(t *testing.T) {
	r, folder := startRuntime(t), t.TempDir()
	var takes atomic.Int32 // Synchronize takes side by side
	take := func(_ context.Context, pod *api.PodSandbox) (attachment, error) {
		takes.Add(1)
		switch pod.GetId() {
		case "host":
			return attachment{}, nil
		case "odd":
			return attachment{"none"}, nil
		}
		return attachment{"10.0.0.7/24"}, nil
	}
	free := func(context.Context, string, attachment) error { return nil }
	for i := range 2 {
		ctx, cancel := context.WithCancel(t.Context())
		pods, err := plugin.OpenPods(ctx, folder, take, free)
		require.NoError(t, err)
		r.List([]*api.PodSandbox{{Id: "a"}, {Id: "host"}}, nil)
		end := run(t, &plugin.Plugin{Index: "50", Name: "net", Socket: r.Socket(), Handler: pods})
		require.NoError(t, r.Joined(soon(t), i+1))
		for range 2 {
			require.NoError(t, runPod(t, r, "a"))
			require.True(t, proto.Equal(networkWith("10.0.0.7/24"), r.Network("a")), r.Network("a"))
			require.NoError(t, runPod(t, r, "host"))
			require.Nil(t, r.Network("host"))
		}
		require.ErrorContains(t, runPod(t, r, "odd"), `give a network: interface "eth0": "none" is no address`)
		require.NoError(t, end())
		cancel()
	}
	require.EqualValues(t, 4, takes.Load(), "a and host once, odd after each start, since Synchronize has freed it")
}

// byPointer is a value whose method is that of a pointer to it.
type byPointer struct{ Address string }

func (a *byPointer) PodNetwork() *podnetwork.Network { return networkWith(a.Address) }

func TestPodsGiveTheirNetworkByPointer(t *testing.T) {
	r := startRuntime(t)
	take := func(context.Context, *api.PodSandbox) (byPointer, error) { return byPointer{"10.0.0.7/24"}, nil }
	pods, err := plugin.OpenPods(t.Context(), t.TempDir(), take, func(context.Context, string, byPointer) error { return nil })
	require.NoError(t, err)
	run(t, &plugin.Plugin{Index: "50", Name: "net", Socket: r.Socket(), Handler: pods})
	require.NoError(t, r.Joined(soon(t), 1))
	require.NoError(t, runPod(t, r, "a"))
	require.True(t, proto.Equal(networkWith("10.0.0.7/24"), r.Network("a")), r.Network("a"))
	require.NoError(t, pods.RunPodSandbox(t.Context(), &api.PodSandbox{Id: "b"}), "without a runtime")
}

// gives is a handler of its own.
type gives struct {
	network *podnetwork.Network
	ctx     chan context.Context // of each RunPodSandbox, unless it is nil
}

func (g gives) StopPodSandbox(ctx context.Context, _ *api.PodSandbox) error {
	return plugin.GiveNetwork(ctx, g.network)
}

func (g gives) RunPodSandbox(ctx context.Context, pod *api.PodSandbox) error {
	if g.ctx != nil {
		g.ctx <- ctx
	}
	given := proto.Clone(g.network).(*podnetwork.Network)
	if err := plugin.GiveNetwork(ctx, given); err != nil {
		return err
	}
	given.Interfaces = nil // it is the plugin's
	if pod.GetId() == "rejected" {
		return errors.New("rejected")
	}
	return nil
}

func TestGiveNetwork(t *testing.T) {
	r, contexts := startRuntime(t), make(chan context.Context, 2)
	run(t, &plugin.Plugin{Index: "50", Name: "net", Socket: r.Socket(), Handler: gives{networkWith("fd00::7/64"), contexts}})
	require.NoError(t, r.Joined(soon(t), 1))
	require.NoError(t, runPod(t, r, "a"))
	require.True(t, proto.Equal(networkWith("fd00::7/64"), r.Network("a")), r.Network("a"))
	require.ErrorContains(t, runPod(t, r, "rejected"), "rejected")
	require.Nil(t, r.Network("rejected"))
	require.ErrorContains(t, plugin.GiveNetwork(t.Context(), networkWith("fd00::7/64")), "not in RunPodSandbox")
	require.ErrorContains(t, r.NRI().StopPodSandbox(soon(t), &api.StopPodSandboxRequest{Pod: &api.PodSandbox{Id: "a"}}), "not in RunPodSandbox")
	for range 2 {
		require.ErrorContains(t, plugin.GiveNetwork(<-contexts, networkWith("fd00::7/64")), "RunPodSandbox has returned")
	}
}

// The runtime has the plugin's last status, reported before it registered, meanwhile, or while the runtime was
// stopped.
func TestReportNetwork(t *testing.T) {
	r := startRuntime(t)
	p := &plugin.Plugin{Index: "50", Name: "net", Socket: r.Socket(), Handler: gives{}}
	down := &podnetwork.Status{Code: podnetwork.NotAvailable, Message: "no uplink"}
	require.NoError(t, p.ReportNetwork(down))
	down.Message = "changed later"
	run(t, p)
	require.NoError(t, r.Joined(soon(t), 1))
	require.Equal(t, "no uplink (code 50)", r.NetworkStatus().Reason())

	require.NoError(t, p.ReportNetwork(nil))
	require.Zero(t, r.NetworkStatus().GetCode())
	require.NotNil(t, r.NetworkStatus())
	require.NoError(t, p.ReportNetwork(&podnetwork.Status{Code: podnetwork.Limited}))
	require.EqualValues(t, 51, r.NetworkStatus().GetCode())
	require.NoError(t, p.ReportNetwork(&podnetwork.Status{Code: 7}))
	require.ErrorContains(t, p.ReportNetwork(&podnetwork.Status{Message: "\xff"}), "report the network")

	_, err := p.UpdateContainers([]*api.ContainerUpdate{{ContainerId: "a"}})
	require.ErrorContains(t, err, "unsupported", "updates are the runtime's")

	r.Stop()
	require.Eventually(t, func() bool {
		_, err := p.UpdateContainers(nil)
		return errors.Is(err, plugin.ErrNotConnected)
	}, 20*time.Second, time.Millisecond)
	require.NoError(t, p.ReportNetwork(nil))
	require.EqualValues(t, 7, r.NetworkStatus().GetCode())
	require.NoError(t, r.Start())
	require.NoError(t, r.Joined(soon(t), 2))
	require.Zero(t, r.NetworkStatus().GetCode())
}

// Of several reports side by side, the runtime has the one that the plugin repeats when it registers again.
func TestReportsSideBySide(t *testing.T) {
	r := startRuntime(t)
	p := &plugin.Plugin{Index: "50", Name: "net", Socket: r.Socket(), Handler: gives{}}
	run(t, p)
	for i := range 4 {
		require.NoError(t, r.Joined(soon(t), i+1))
		var reports sync.WaitGroup
		for code := range uint32(8) {
			reports.Add(1)
			go func() {
				defer reports.Done()
				if err := p.ReportNetwork(&podnetwork.Status{Code: code + 1}); err != nil {
					t.Error(err)
				}
			}()
		}
		reports.Wait()
		last := r.NetworkStatus().GetCode()
		r.Disconnect()
		require.NoError(t, r.Joined(soon(t), i+2))
		require.Equal(t, last, r.NetworkStatus().GetCode())
	}
}
