// SPDX-License-Identifier: Apache-2.0

package adaptation_test

import (
	"context"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	nri "github.com/containerd/nri/pkg/adaptation"
	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/stub"
)

// requiring starts an adaptation that requires a plugin "must", and returns the record of
// its metrics.
func requiring(t *testing.T, dir string, s nri.PluginSettings) (*nri.Adaptation, *requiredRecord) {
	t.Helper()
	record := &requiredRecord{}
	return withSettings(t, dir, "must", s, record), record
}

// withSettings starts an adaptation that has settings for one plugin.
func withSettings(t *testing.T, dir, plugin string, s nri.PluginSettings, record nri.Metrics) *nri.Adaptation {
	t.Helper()
	return runtimeWith(t, dir, lists, nri.WithPluginSettings(map[string]nri.PluginSettings{plugin: s}), nri.WithMetrics(record))
}

// requiredRecord keeps the metrics of required plugins.
type requiredRecord struct {
	nri.Metrics
	mu         sync.Mutex // guards what follows
	waits      []string
	rejections []string
}

func (*requiredRecord) RecordPluginInvocation(string, string, error)                               {}
func (*requiredRecord) RecordPluginLatency(string, string, time.Duration)                          {}
func (*requiredRecord) RecordPluginAdjustments(string, string, *api.ContainerAdjustment, int, int) {}
func (*requiredRecord) UpdatePluginCount(int)                                                      {}

func (m *requiredRecord) RecordRequiredWait(plugin, event string, _ time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.waits = append(m.waits, plugin+" "+event)
}

func (m *requiredRecord) RecordRequiredRejection(plugin, event, reason string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.rejections = append(m.rejections, plugin+" "+event+" "+reason)
}

func runPodIn(r *nri.Adaptation, namespace, id string) error {
	return r.RunPodSandbox(context.Background(), &api.RunPodSandboxRequest{Pod: &api.PodSandbox{Id: id, Namespace: namespace}})
}

// A runtime can let a pod wait before it makes anything of it.
func TestRequiredPluginIsAwaitedFirst(t *testing.T) {
	r, record := requiring(t, t.TempDir(), nri.PluginSettings{RequiredForPods: true, ExemptNamespaces: []string{"exempt"}, Wait: 50 * time.Millisecond})
	await := func(namespace string) (context.Context, error) {
		return r.AwaitRequired(context.Background(), &api.RunPodSandboxRequest{Pod: &api.PodSandbox{Id: "pod", Namespace: namespace}})
	}
	ctx, err := await("exempt")
	require.NoError(t, err)
	require.Equal(t, context.Background(), ctx)
	_, err = await("default")
	require.Equal(t, codes.Unavailable, status.Code(err))
	require.ErrorContains(t, err, "RunPodSandbox rejected: required plugin must is disconnected since 2")
	require.Equal(t, []string{"must RunPodSandbox"}, record.waits)
	require.Equal(t, []string{"must RunPodSandbox disconnected"}, record.rejections)
}

// A pod waits for a plugin that is disconnected, is rejected without it, and starts with it.
func TestRequiredPlugin(t *testing.T) {
	dir := t.TempDir()
	r, record := requiring(t, dir, nri.PluginSettings{RequiredForPods: true, ExemptNamespaces: []string{"exempt"}, Wait: 50 * time.Millisecond})
	require.NoError(t, runPodIn(r, "exempt", "pod0"))

	err := runPodIn(r, "default", "pod1")
	require.Equal(t, codes.Unavailable, status.Code(err))
	require.ErrorContains(t, err, "RunPodSandbox rejected: required plugin must is disconnected since 2")
	require.ErrorContains(t, err, "(waited for it for ")
	var failed *nri.PluginError
	require.ErrorAs(t, err, &failed)
	require.Equal(t, "must", failed.Plugin)
	require.Equal(t, []string{"must RunPodSandbox"}, record.waits)
	require.Equal(t, []string{"must RunPodSandbox disconnected"}, record.rejections)
	gone := r.RequiredPlugins()
	require.Len(t, gone, 1)
	require.Equal(t, "must", gone[0].Name)
	require.False(t, gone[0].Disconnected.IsZero())

	p := &mockPlugin{idx: "10", name: "must"}
	started(t, dir, p)
	require.NoError(t, p.Wait(PluginSynchronized, time.After(soon)))
	eventually(t, func() error { return runPodIn(r, "default", "pod2") })
	require.True(t, r.RequiredPlugins()[0].Disconnected.IsZero())
}

// A pod that is known to be on the host's network starts without a plugin that is for the
// network.
func TestRequiredPluginExemptsTheHostsNetwork(t *testing.T) {
	r, _ := requiring(t, t.TempDir(), nri.PluginSettings{RequiredForPods: true, RequiredForContainers: true, ExemptHostNetwork: true, Wait: time.Millisecond})
	pod := func(id string, namespaces ...string) *api.PodSandbox {
		p := &api.PodSandbox{Id: id, Namespace: "default", Linux: &api.LinuxPodSandbox{}}
		for _, n := range namespaces {
			p.Linux.Namespaces = append(p.Linux.Namespaces, &api.LinuxNamespace{Type: n})
		}
		return p
	}
	run := func(p *api.PodSandbox) error {
		return r.RunPodSandbox(context.Background(), &api.RunPodSandboxRequest{Pod: p})
	}
	onHost := pod("host", "ipc", "mount")
	require.NoError(t, run(onHost))
	_, err := r.CreateContainer(context.Background(), &api.CreateContainerRequest{Pod: onHost, Container: &api.Container{Id: "main", PodSandboxId: "host"}})
	require.NoError(t, err)
	require.Equal(t, codes.Unavailable, status.Code(run(pod("own", "ipc", "network"))))
	require.Equal(t, codes.Unavailable, status.Code(run(pod("unknown"))))
}

// The wait of a pod is reported, and the pod starts when the plugin has connected.
func TestRequiredPluginComes(t *testing.T) {
	dir := t.TempDir()
	r, _ := requiring(t, dir, nri.PluginSettings{RequiredForPods: true, Wait: time.Minute})
	ran := make(chan error, 1)
	go func() { ran <- runPodIn(r, "default", "pod0") }()
	require.Eventually(t, func() bool { return len(r.Waits()) == 1 }, soon, time.Millisecond)
	w := r.Waits()[0]
	require.True(t, w.Disconnected)
	require.Equal(t, "must", w.Plugin)
	require.Equal(t, "pod0", w.Pod)
	p := &mockPlugin{idx: "10", name: "must"}
	started(t, dir, p)
	require.NoError(t, <-ran)
	require.Contains(t, p.pods, "pod0")
	require.Empty(t, r.Waits())
}

// A required plugin that times out has not approved the pod, even if its policy ignores
// timeouts.
func TestRequiredPluginTimesOut(t *testing.T) {
	dir, over := t.TempDir(), make(chan struct{})
	r, record := requiring(t, dir, nri.PluginSettings{RequiredForPods: true, Wait: time.Minute, RequestTimeout: time.Second})
	p := &mockPlugin{idx: "10", name: "must"}
	p.runPodSandbox = func(*mockPlugin, *api.PodSandbox, *api.Container) error { <-over; return nil }
	started(t, dir, p)
	t.Cleanup(func() { close(over) })
	require.NoError(t, p.Wait(PluginSynchronized, time.After(soon)))
	err := runPodIn(r, "default", "pod0")
	require.Equal(t, codes.Unavailable, status.Code(err))
	require.ErrorContains(t, err, "did not answer: no answer within 1s")
	require.Equal(t, []string{"must RunPodSandbox unanswered"}, record.rejections)
}

// timed is a plugin that keeps the timeout that it receives.
type timed struct{ received chan time.Duration }

var timedStub stub.Stub

func (p timed) Configure(context.Context, string, string, string) (stub.EventMask, error) {
	p.received <- timedStub.RequestTimeout()
	return api.MustParseEventMask("RunPodSandbox"), nil
}

func (p timed) RunPodSandbox(context.Context, *api.PodSandbox) error { return nil }

// A plugin receives its own timeout when it is configured.
func TestPluginReceivesItsTimeout(t *testing.T) {
	dir := t.TempDir()
	requiring(t, dir, nri.PluginSettings{RequestTimeout: 1234 * time.Millisecond})
	p := timed{received: make(chan time.Duration, 1)}
	var err error
	timedStub, err = stub.New(p, stub.WithPluginName("must"), stub.WithPluginIdx("00"), stub.WithSocketPath(filepath.Join(dir, "nri.sock")))
	require.NoError(t, err)
	require.NoError(t, timedStub.Start(context.Background()))
	t.Cleanup(timedStub.Stop)
	require.Equal(t, 1234*time.Millisecond, <-p.received)
}
