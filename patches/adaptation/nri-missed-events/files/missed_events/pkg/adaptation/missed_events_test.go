// SPDX-License-Identifier: Apache-2.0

package adaptation_test

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	nri "github.com/containerd/nri/pkg/adaptation"
	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/stub"
)

// hearing is a plugin that keeps the ends that it receives, and asks for an update in each
// StopContainer.
type hearing struct {
	mu       sync.Mutex // guards what follows
	received []string
}

func (p *hearing) hears(event, id string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.received = append(p.received, event+" "+id)
	return nil
}

func (p *hearing) heard() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.received, ", ")
}

func (p *hearing) Synchronize(context.Context, []*api.PodSandbox, []*api.Container) ([]*api.ContainerUpdate, error) {
	return nil, nil
}

func (p *hearing) RunPodSandbox(context.Context, *api.PodSandbox) error { return nil }

func (p *hearing) StopPodSandbox(_ context.Context, pod *api.PodSandbox) error {
	return p.hears("StopPodSandbox", pod.GetName())
}

func (p *hearing) RemovePodSandbox(_ context.Context, pod *api.PodSandbox) error {
	return p.hears("RemovePodSandbox", pod.GetId())
}

func (p *hearing) CreateContainer(context.Context, *api.PodSandbox, *api.Container) (*api.ContainerAdjustment, []*api.ContainerUpdate, error) {
	return nil, nil, nil
}

func (p *hearing) StopContainer(_ context.Context, _ *api.PodSandbox, ctr *api.Container) ([]*api.ContainerUpdate, error) {
	return []*api.ContainerUpdate{{ContainerId: "another"}}, p.hears("StopContainer", ctr.GetId())
}

func (p *hearing) RemoveContainer(_ context.Context, _ *api.PodSandbox, ctr *api.Container) error {
	return p.hears("RemoveContainer", ctr.GetId())
}

// remembering is a runtime that keeps missed events.
type remembering struct {
	*nri.Adaptation
	t      *testing.T
	dir    string
	store  *kept
	record *missedRecord
	mu     sync.Mutex // guards what follows
	pods   []*api.PodSandbox
	ctrs   []*api.Container
	exited []*api.Container
	asked  []string // containers whose update was asked for
}

// missedRecord keeps the metrics of missed events.
type missedRecord struct {
	requiredRecord
	received []string
}

func (r *missedRecord) RecordMissedEvent(plugin, event, outcome string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.received = append(r.received, plugin+" "+event+" "+outcome)
}

func newRemembering(t *testing.T) *remembering {
	o := &remembering{t: t, dir: t.TempDir(), store: &kept{}, record: &missedRecord{}}
	o.start()
	t.Cleanup(func() { o.Stop() })
	return o
}

func (o *remembering) start() {
	o.t.Helper()
	r, err := nri.New(defaultRuntimeName, defaultRuntimeVersion, o.list, o.update,
		nri.WithPluginPath(filepath.Join(o.dir, "plugins")), nri.WithSocketPath(filepath.Join(o.dir, "nri.sock")),
		nri.WithOrderedUpdates(), nri.WithMetrics(o.record), nri.WithMissedEvents(o.store, o.over))
	require.NoError(o.t, err)
	o.Adaptation = r
	require.NoError(o.t, r.Start())
}

func (o *remembering) list(ctx context.Context, cb nri.SyncCB) error {
	o.mu.Lock()
	pods, ctrs := slices.Clone(o.pods), slices.Clone(o.ctrs)
	o.mu.Unlock()
	_, err := cb(ctx, pods, ctrs)
	return err
}

func (o *remembering) over() []*api.Container {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.exited)
}

func (o *remembering) update(_ context.Context, updates []*api.ContainerUpdate) ([]*api.ContainerUpdate, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, u := range updates {
		o.asked = append(o.asked, u.GetContainerId())
	}
	return nil, nil
}

func (o *remembering) lists(pods []*api.PodSandbox, ctrs, exited []*api.Container) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.pods, o.ctrs, o.exited = pods, ctrs, exited
}

// comes connects the plugin. The function that it returns disconnects the plugin, and waits
// until the runtime has noticed.
func (o *remembering) comes(options ...stub.Option) (*hearing, func()) {
	o.t.Helper()
	p := &hearing{}
	s, err := stub.New(p, append(options, stub.WithPluginName("hears"), stub.WithPluginIdx("00"), stub.WithSocketPath(filepath.Join(o.dir, "nri.sock")))...)
	require.NoError(o.t, err)
	require.NoError(o.t, s.Start(context.Background()))
	o.t.Cleanup(s.Stop)
	require.Eventually(o.t, func() bool {
		all := o.PluginStatus()
		return len(all) == 1 && all[0].Synchronized
	}, soon, time.Millisecond)
	return p, func() {
		s.Stop()
		require.Eventually(o.t, func() bool { return len(o.DisconnectedPlugins()) == 1 && len(o.PluginStatus()) == 0 }, soon, time.Millisecond)
	}
}

func (o *remembering) requireHeard(p *hearing, received ...string) {
	o.t.Helper()
	require.Eventually(o.t, func() bool { return p.heard() == strings.Join(received, ", ") }, soon, time.Millisecond, "%s", received)
}

var (
	missedPod = &api.PodSandbox{Id: "pod0", Name: "name0"}
	missedCtr = &api.Container{Id: "ctr0", PodSandboxId: "pod0"}
)

func (o *remembering) begin() {
	o.t.Helper()
	ctx := context.Background()
	require.NoError(o.t, o.RunPodSandbox(ctx, &api.RunPodSandboxRequest{Pod: missedPod}))
	_, err := o.CreateContainer(ctx, &api.CreateContainerRequest{Pod: missedPod, Container: missedCtr})
	require.NoError(o.t, err)
}

func (o *remembering) end() {
	o.t.Helper()
	ctx := context.Background()
	_, err := o.StopContainer(ctx, &api.StopContainerRequest{Pod: missedPod, Container: missedCtr})
	require.NoError(o.t, err)
	require.NoError(o.t, o.RemoveContainer(ctx, &api.RemoveContainerRequest{Pod: missedPod, Container: missedCtr}))
	require.NoError(o.t, o.StopPodSandbox(ctx, &api.StopPodSandboxRequest{Pod: missedPod}))
	require.NoError(o.t, o.RemovePodSandbox(ctx, &api.RemovePodSandboxRequest{Pod: missedPod}))
}

var missedLife = []string{"StopContainer ctr0", "RemoveContainer ctr0", "StopPodSandbox name0", "RemovePodSandbox pod0"}

// A plugin that reconnects receives the ends that it missed, and the updates of its answers are
// applied.
func TestMissedEvents(t *testing.T) {
	o := newRemembering(t)
	_, goes := o.comes()
	o.begin()
	goes()
	synced := o.store.synced()
	o.end()
	require.Greater(t, o.store.synced(), synced, "the store must be synced before the runtime goes on")
	gone := o.DisconnectedPlugins()
	require.Len(t, gone, 1)
	require.Equal(t, "00-hears", gone[0].Name)
	require.Equal(t, 4, gone[0].Missed)
	require.False(t, gone[0].Disconnected.IsZero())

	p, goes := o.comes()
	o.requireHeard(p, missedLife...)
	require.Empty(t, o.DisconnectedPlugins())
	require.Eventually(t, func() bool {
		o.mu.Lock()
		defer o.mu.Unlock()
		return slices.Equal(o.asked, []string{"another"})
	}, soon, time.Millisecond)
	require.Eventually(t, func() bool {
		o.record.mu.Lock()
		defer o.record.mu.Unlock()
		return slices.Equal(o.record.received, []string{
			"00-hears StopContainer answered", "00-hears RemoveContainer answered", "00-hears StopPodSandbox answered", "00-hears RemovePodSandbox answered"})
	}, soon, time.Millisecond)
	goes()
	p, _ = o.comes()
	require.NoError(t, o.RunPodSandbox(context.Background(), &api.RunPodSandboxRequest{Pod: &api.PodSandbox{Id: "pod1"}}))
	require.Empty(t, p.heard(), "delivered twice")
}

// While the plugin is connected, the store is not synced.
func TestNothingIsMissed(t *testing.T) {
	o := newRemembering(t)
	p, _ := o.comes()
	o.begin()
	synced := o.store.synced()
	o.end()
	o.requireHeard(p, missedLife...)
	require.Equal(t, synced, o.store.synced())
}

// After a restart of the runtime, a plugin that was connected before receives the ends of pods
// that ended before it is back, and of pods that the runtime no longer lists.
func TestMissedEventsAfterARestart(t *testing.T) {
	for name, gone := range map[string]bool{"ends": false, "is gone": true} {
		t.Run(name, func(t *testing.T) {
			o := newRemembering(t)
			o.comes()
			o.begin()
			o.Stop()
			if !gone {
				o.lists([]*api.PodSandbox{missedPod}, nil, []*api.Container{missedCtr})
			}
			o.start()
			if !gone {
				o.end()
				o.lists(nil, nil, nil)
			}
			p, _ := o.comes()
			if gone { // only the ids are known
				o.requireHeard(p, "StopContainer ctr0", "RemoveContainer ctr0", "StopPodSandbox ", "RemovePodSandbox pod0")
			} else {
				o.requireHeard(p, missedLife...)
			}
		})
	}
}

// cutConn is a plugin's side of a connection that breaks in the middle of the next message.
type cutConn struct {
	net.Conn
	cuts atomic.Bool
}

func (c *cutConn) Write(b []byte) (int, error) {
	if c.cuts.Load() {
		n, _ := c.Conn.Write(b[:len(b)/2])
		return n, errors.Join(net.ErrClosed, c.Close())
	}
	return c.Conn.Write(b)
}

// An end with half an answer counts as missed.
func TestEndWithHalfAnAnswerIsMissed(t *testing.T) {
	o := newRemembering(t)
	c := &cutConn{}
	o.comes(stub.WithDialer(func(path string) (_ net.Conn, err error) {
		c.Conn, err = net.Dial("unix", path)
		return c, err
	}))
	o.begin()
	c.cuts.Store(true)
	require.NoError(t, o.RemoveContainer(context.Background(), &api.RemoveContainerRequest{Pod: missedPod, Container: missedCtr}))
	require.Eventually(t, func() bool { return len(o.DisconnectedPlugins()) == 1 }, soon, time.Millisecond)
	p, _ := o.comes()
	o.requireHeard(p, "StopContainer ctr0", "RemoveContainer ctr0")
}

// A plugin that was forgotten has no missed events.
func TestForgetPlugin(t *testing.T) {
	o := newRemembering(t)
	_, goes := o.comes()
	o.begin()
	_, ok := o.ForgetPlugin("00-hears")
	require.False(t, ok, "it is connected")
	goes()
	o.end()
	missed, ok := o.ForgetPlugin("00-hears")
	require.True(t, ok)
	require.Equal(t, 4, missed)
	require.Empty(t, o.DisconnectedPlugins())
	p, _ := o.comes()
	require.NoError(t, o.RunPodSandbox(context.Background(), &api.RunPodSandboxRequest{Pod: &api.PodSandbox{Id: "pod1"}}))
	require.Empty(t, p.heard())
}
