// SPDX-License-Identifier: Apache-2.0

package adaptation_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/containerd/nri/internal/acknowledge"
	nri "github.com/containerd/nri/pkg/adaptation"
	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/stub"
)

// noShares are CPU shares that the runtime of these tests fails to set.
const noShares = 1

// sharing is a runtime with one pod, whose containers have CPU shares.
type sharing struct {
	*nri.Adaptation
	socket string
	mu     sync.Mutex // guards shares
	shares map[string]uint64
}

var sharingPod = &api.PodSandbox{Id: "pod"}

func (r *sharing) container(id string) *api.Container {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.shares[id] == 0 {
		return nil
	}
	return &api.Container{Id: id, PodSandboxId: "pod", Linux: &api.LinuxContainer{Resources: &api.LinuxResources{Cpu: &api.LinuxCPU{Shares: api.UInt64(r.shares[id])}}}}
}

func (r *sharing) lookup(_, id string) (*api.PodSandbox, *api.Container) {
	if c := r.container(id); c != nil {
		return sharingPod, c
	}
	return nil, nil
}

func (r *sharing) update(_ context.Context, updates []*api.ContainerUpdate) (failed []*api.ContainerUpdate, _ error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, u := range updates {
		asked := u.GetLinux().GetResources().GetCpu().GetShares().GetValue()
		if asked == noShares || r.shares[u.GetContainerId()] == 0 {
			failed = append(failed, u)
			continue
		}
		r.shares[u.GetContainerId()] = asked
	}
	return failed, nil
}

// A manner is what a runtime does for plugins.
type manner struct {
	looksUp bool // it gives NRI the function that looks up what a container has
	ordered bool // it leaves the updates of replies to NRI
}

var acknowledging = manner{looksUp: true, ordered: true}

// newSharing starts a runtime with containers a, b and s of 100 shares.
func newSharing(t *testing.T, m manner) *sharing {
	t.Helper()
	dir := t.TempDir()
	r := &sharing{socket: filepath.Join(dir, "nri.sock"), shares: map[string]uint64{"a": 100, "b": 100, "s": 100}}
	opts := []nri.Option{nri.WithPluginPath(filepath.Join(dir, "plugins")), nri.WithSocketPath(r.socket)}
	if m.looksUp {
		opts = append(opts, nri.WithLookup(r.lookup))
	}
	if m.ordered {
		opts = append(opts, nri.WithOrderedUpdates())
	}
	list := func(ctx context.Context, cb nri.SyncCB) error {
		_, err := cb(ctx, []*api.PodSandbox{sharingPod}, []*api.Container{r.container("a"), r.container("b"), r.container("s")})
		return err
	}
	var err error
	r.Adaptation, err = nri.New(defaultRuntimeName, defaultRuntimeVersion, list, r.update, opts...)
	require.NoError(t, err)
	require.NoError(t, r.Start())
	t.Cleanup(r.Stop)
	return r
}

// connect connects a plugin, which stays connected if it does not answer in time.
func (r *sharing) connect(t *testing.T, index string, p *wanting) *wanting {
	t.Helper()
	before := len(r.PluginStatus())
	s, err := stub.New(p, stub.WithPluginName("asks"), stub.WithPluginIdx(index), stub.WithSocketPath(r.socket),
		stub.WithFailurePolicy(&api.FailurePolicy{KeepConnected: true}))
	require.NoError(t, err)
	p.stub = s
	require.NoError(t, s.Start(context.Background()))
	t.Cleanup(s.Stop)
	require.Eventually(t, func() bool {
		all := r.PluginStatus()
		return len(all) == before+1 && !slices.ContainsFunc(all, func(s nri.PluginStatus) bool { return !s.Synchronized })
	}, soon, time.Millisecond)
	return p
}

// create creates a container.
func (r *sharing) create(ctx context.Context) error {
	_, err := r.CreateContainer(ctx, &api.CreateContainerRequest{Pod: sharingPod, Container: &api.Container{Id: "c", PodSandboxId: "pod"}})
	return err
}

// stop stops container s.
func (r *sharing) stop(ctx context.Context) error {
	_, err := r.StopContainer(ctx, &api.StopContainerRequest{Pod: sharingPod, Container: r.container("s")})
	return err
}

// wanting is a plugin that asks for updates in its replies.
type wanting struct {
	stub    stub.Stub
	updates map[api.Event][]*api.ContainerUpdate // by the event that it answers with them; UNKNOWN is Synchronize
	rejects bool                                 // whether it rejects containers
	entered chan struct{}                        // closed when it is asked for a container; nil: it answers at once
	goOn    chan struct{}                        // it then answers when this is closed
	after   func()                               // called in PostUpdateContainer, unless it is nil

	mu       sync.Mutex // guards received
	received []has
}

// has is what a plugin has received of a container after an update.
type has struct {
	id     string
	shares uint64
}

func (p *wanting) Synchronize(context.Context, []*api.PodSandbox, []*api.Container) ([]*api.ContainerUpdate, error) {
	return p.updates[api.Event_UNKNOWN], nil
}

func (p *wanting) CreateContainer(context.Context, *api.PodSandbox, *api.Container) (*api.ContainerAdjustment, []*api.ContainerUpdate, error) {
	if p.entered != nil {
		close(p.entered)
		<-p.goOn
	}
	if p.rejects {
		return nil, nil, errors.New("not now")
	}
	return nil, p.updates[api.Event_CREATE_CONTAINER], nil
}

func (p *wanting) UpdateContainer(context.Context, *api.PodSandbox, *api.Container, *api.LinuxResources) ([]*api.ContainerUpdate, error) {
	return p.updates[api.Event_UPDATE_CONTAINER], nil
}

func (p *wanting) StopContainer(context.Context, *api.PodSandbox, *api.Container) ([]*api.ContainerUpdate, error) {
	return p.updates[api.Event_STOP_CONTAINER], nil
}

func (p *wanting) PostUpdateContainer(_ context.Context, _ *api.PodSandbox, c *api.Container) error {
	if p.after != nil {
		p.after()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.received = append(p.received, has{c.GetId(), c.GetLinux().GetResources().GetCpu().GetShares().GetValue()})
	return nil
}

// all returns what the plugin has received.
func (p *wanting) all() []has {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.received)
}

// receives waits until the plugin has received what containers have, and no more when an update by
// the runtime ends after that.
func (p *wanting) receives(t *testing.T, r *sharing, want ...has) {
	t.Helper()
	received := func(want []has) {
		t.Helper()
		require.EventuallyWithT(t, func(t *assert.CollectT) { assert.Equal(t, want, p.all()) }, soon, time.Millisecond)
	}
	received(want)
	require.NoError(t, r.PostUpdateContainer(t.Context(), &api.PostUpdateContainerRequest{Pod: sharingPod, Container: r.container("b")}))
	received(append(want, has{"b", 100}))
}

// to is an update that is to be acknowledged.
func to(id string, shares uint64) *api.ContainerUpdate {
	u := &api.ContainerUpdate{ContainerId: id}
	u.SetLinuxCPUShares(shares)
	acknowledge.Ask(u)
	return u
}

func in(event api.Event, updates ...*api.ContainerUpdate) *wanting {
	return &wanting{updates: map[api.Event][]*api.ContainerUpdate{event: updates}}
}

// In each way in which a plugin asks for updates, it receives which held. Others receive nothing.
func TestUpdatesAreAcknowledged(t *testing.T) {
	asked := []*api.ContainerUpdate{to("a", 200), to("b", noShares), to("none", 200)}
	for name, test := range map[string]struct {
		p    *wanting
		does func(*sharing, *wanting) error
	}{
		"Synchronize":     {in(api.Event_UNKNOWN, asked...), func(*sharing, *wanting) error { return nil }},
		"CreateContainer": {in(api.Event_CREATE_CONTAINER, asked...), func(r *sharing, _ *wanting) error { return r.create(t.Context()) }},
		"UpdateContainer": {in(api.Event_UPDATE_CONTAINER, asked...), func(r *sharing, _ *wanting) error {
			_, err := r.UpdateContainer(t.Context(), &api.UpdateContainerRequest{Pod: sharingPod, Container: r.container("s")})
			return err
		}},
		"StopContainer": {in(api.Event_STOP_CONTAINER, asked...), func(r *sharing, _ *wanting) error { return r.stop(t.Context()) }},
		"by itself": {&wanting{}, func(_ *sharing, p *wanting) error {
			failed, err := p.stub.UpdateContainers(asked)
			require.Len(t, failed, 2)
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newSharing(t, acknowledging)
			other := r.connect(t, "10", &wanting{})
			p := r.connect(t, "20", test.p)
			require.NoError(t, test.does(r, p))
			p.receives(t, r, has{"a", 200}, has{"b", 100})
			require.Equal(t, []has{{"b", 100}}, other.all(), "what the runtime sends to all")
		})
	}
}

// A request fails after a plugin has asked for updates in its reply. They are not tried.
func TestUpdatesOfAFailedRequestAreAcknowledged(t *testing.T) {
	r := newSharing(t, acknowledging)
	p := r.connect(t, "10", in(api.Event_CREATE_CONTAINER, to("a", 200)))
	r.connect(t, "20", &wanting{rejects: true})
	require.ErrorContains(t, r.create(t.Context()), "not now")
	p.receives(t, r, has{"a", 100})
}

// So are those of a reply that comes when the request has failed.
func TestUpdatesOfALateReplyAreAcknowledged(t *testing.T) {
	for name, test := range map[string]struct {
		patience time.Duration
		fails    bool
		want     has
	}{
		"its caller has left":           {time.Second / 2, true, has{"a", 100}},
		"it went on without the plugin": {time.Minute, false, has{"a", 200}},
	} {
		t.Run(name, func(t *testing.T) {
			nri.SetPluginRequestTimeout(time.Second)
			t.Cleanup(func() { nri.SetPluginRequestTimeout(nri.DefaultPluginRequestTimeout) })
			r := newSharing(t, acknowledging)
			p := in(api.Event_CREATE_CONTAINER, to("a", 200))
			p.entered, p.goOn = make(chan struct{}), make(chan struct{})
			r.connect(t, "10", p)
			ctx, cancel := context.WithTimeout(t.Context(), test.patience)
			defer cancel()
			require.Equal(t, test.fails, r.create(ctx) != nil)
			close(p.goOn)
			p.receives(t, r, test.want)
		})
	}
}

// Another plugin has asked for other values before. The update is ignored, as the plugin allows.
func TestIgnoredUpdateIsAcknowledged(t *testing.T) {
	r := newSharing(t, acknowledging)
	first := r.connect(t, "10", in(api.Event_CREATE_CONTAINER, to("a", 200)))
	ignored := to("a", 300)
	ignored.IgnoreFailure = true
	second := r.connect(t, "20", in(api.Event_CREATE_CONTAINER, ignored))
	require.NoError(t, r.create(t.Context()))
	require.EventuallyWithT(t, func(t *assert.CollectT) {
		received := second.all()
		require.NotEmpty(t, received)
		assert.Equal(t, "a", received[0].id)
		assert.NotEqual(t, uint64(300), received[0].shares)
	}, soon, time.Millisecond)
	first.receives(t, r, has{"a", 200})
}

// The runtime updates a container, and a slow plugin is ahead. Meanwhile this plugin asks for an update
// of the same container. It receives no older value after a newer one.
func TestEventOfTheRuntimeIsNoOlderThanAnAcknowledgement(t *testing.T) {
	r := newSharing(t, acknowledging)
	p := r.connect(t, "20", &wanting{})
	r.connect(t, "10", &wanting{after: func() {
		_, err := p.stub.UpdateContainers([]*api.ContainerUpdate{to("a", 200)})
		assert.NoError(t, err)
		assert.Eventually(t, func() bool { return len(p.all()) == 1 }, soon, time.Millisecond)
	}})
	require.NoError(t, r.PostUpdateContainer(t.Context(), &api.PostUpdateContainerRequest{Pod: sharingPod, Container: r.container("a")}))
	require.Equal(t, []has{{"a", 200}, {"a", 200}}, p.all())
}

// A plugin answers with an update of the container itself when it receives what that has after a failed
// update. It is not applied.
func TestUpdateOfTheContainerItselfIsAcknowledged(t *testing.T) {
	r := newSharing(t, acknowledging)
	p := r.connect(t, "10", in(api.Event_UPDATE_CONTAINER, to("s", 200)))
	_, err := r.UpdateContainer(t.Context(), &api.UpdateContainerRequest{Pod: sharingPod, Container: r.container("s")})
	require.NoError(t, err)
	require.NoError(t, r.UndoUpdateContainer("pod", "s"))
	p.receives(t, r, has{"s", 100})
}

// Plugins that do not ask for it receive what they did before. So do all on a runtime that looks up
// nothing, or does not say when the updates of a reply are over.
func TestUpdatesAreNotAcknowledgedUnasked(t *testing.T) {
	unmarked := &api.ContainerUpdate{ContainerId: "a"}
	unmarked.SetLinuxCPUShares(200)
	for name, test := range map[string]struct {
		manner
		update *api.ContainerUpdate
	}{
		"unasked":                   {acknowledging, unmarked},
		"no look-up":                {manner{ordered: true}, to("a", 200)},
		"it applies replies itself": {manner{looksUp: true}, to("a", 200)},
	} {
		t.Run(name, func(t *testing.T) {
			r := newSharing(t, test.manner)
			p := r.connect(t, "10", in(api.Event_CREATE_CONTAINER, test.update))
			require.NoError(t, r.create(t.Context()))
			_, err := p.stub.UpdateContainers([]*api.ContainerUpdate{test.update})
			require.NoError(t, err)
			p.receives(t, r)
		})
	}
}
