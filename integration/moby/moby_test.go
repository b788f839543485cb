// SPDX-License-Identifier: Apache-2.0

package moby

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/testkit/plugin"
	"github.com/hookline-nri/hookline/testkit/wait"
)

func TestPluginAdjustsContainers(t *testing.T) {
	d := start(t)
	p := plugin.New("10", "adjuster")
	p.On(plugin.CreateContainer, env)
	d.join(p)
	id, _ := d.create("one")
	d.requireEnv(id)
	_, err := d.Client().ContainerStart(within(t, time.Minute), id, client.ContainerStartOptions{})
	require.NoError(t, err)
	d.remove(id)
	require.Empty(t, d.has())
}

func TestPluginRejectsAContainer(t *testing.T) {
	d := start(t)
	p := plugin.New("10", "strict")
	p.On(plugin.CreateContainer, func(context.Context, *plugin.Call) error { return fmt.Errorf("not today") })
	d.join(p)
	_, err := d.try(within(t, time.Minute), "one")
	require.ErrorContains(t, err, "not today")
	require.Empty(t, d.has())
	p.On(plugin.CreateContainer, nil)
	d.create("one")
}

func TestReturningPluginReceivesWhatExists(t *testing.T) {
	d := start(t)
	p, err := plugin.Start(d.NRISocket(), plugin.Script{Index: "10", Name: "back"})
	require.NoError(t, err)
	ctx := within(t, time.Minute)
	require.NoError(t, wait.Until(ctx, "the plugin to join", joined(p)))
	d.create("k1")
	d.create("k2")
	require.NoError(t, p.Kill())
	d.create("c1")
	gone, _ := d.create("k3")
	d.remove(gone)

	back := d.join(plugin.New("10", "back"))
	require.Equal(t, d.has(), received(back))
	d.create("c2")
	require.Equal(t, d.has(), received(back))
}

// joined returns nil once a plugin has received Synchronize.
func joined(p interface{ Calls() plugin.Calls }) func(context.Context) error {
	return func(context.Context) error {
		if len(p.Calls().Only(plugin.Synchronize)) == 0 {
			return fmt.Errorf("no Synchronize")
		}
		return nil
	}
}

// A creation that fails after plugins were asked is undone, and plugins do not receive that.
func TestFailedCreationIsNotInSynchronize(t *testing.T) {
	d := start(t)
	first := d.join(plugin.New("10", "first"))
	for i := range 3 {
		_, err := d.try(within(t, time.Minute), fmt.Sprint("bad", i), func(h *container.HostConfig) {
			h.Binds = []string{"/:/proc/../"} // a mount on the root is rejected
		})
		require.Error(t, err)
	}
	d.create("good")
	require.Len(t, first.Calls().Only(plugin.CreateContainer), 4, "the plugin was asked about those that failed")
	second := d.join(plugin.New("20", "second"))
	require.Equal(t, d.has(), received(second))
}

func TestRemovedContainersAreNotInSynchronize(t *testing.T) {
	d := start(t)
	d.join(plugin.New("10", "first"))
	for i := range 200 {
		id, _ := d.create(fmt.Sprint("gone", i))
		d.remove(id)
	}
	for i := range 10 {
		d.create(fmt.Sprint("left", i))
	}
	second := d.join(plugin.New("20", "second"))
	require.Equal(t, d.has(), received(second))
	require.Len(t, received(second), 10)
}

// A plugin hangs in CreateContainer: its container is created once it has timed out, and the daemon
// answers meanwhile.
func TestPluginHangsInCreateContainer(t *testing.T) {
	d := start(t)
	p, gate := plugin.New("10", "hung"), plugin.NewGate()
	defer gate.Release()
	p.On(plugin.CreateContainer, gate.Hold)
	d.join(p)
	created := make(chan time.Duration)
	go func() {
		_, took := d.create("slow")
		created <- took
	}()
	<-gate.Entered()
	began := time.Now()
	_, err := d.Client().Info(within(t, time.Minute), client.InfoOptions{})
	require.NoError(t, err)
	t.Logf("info took %s", time.Since(began))
	select {
	case <-created:
		t.Error("the daemon did not answer before the plugin timed out")
	default:
	}
	t.Logf("creation took %s", <-created)
	require.Equal(t, d.has(), received(d.join(plugin.New("20", "second"))))
}

func TestPluginJoinsWhileAnotherHangsInCreateContainer(t *testing.T) {
	d := start(t)
	p, gate := plugin.New("10", "hung"), plugin.NewGate()
	defer gate.Release()
	p.On(plugin.CreateContainer, gate.Hold)
	d.join(p)
	created := make(chan time.Duration, 1)
	go func() {
		_, took := d.create("slow")
		created <- took
	}()
	<-gate.Entered()
	began := time.Now()
	second := d.join(plugin.New("20", "second"))
	t.Logf("join took %s", time.Since(began))
	t.Logf("creation took %s", <-created)
	require.Equal(t, d.has(), received(second))
}

// slack is the time that a daemon on a busy machine may take besides a timeout.
const slack = 2 * time.Second

func TestPluginHangsInSynchronize(t *testing.T) {
	d := start(t)
	d.create("before")
	p, gate := plugin.New("10", "hung"), plugin.NewGate()
	defer gate.Release()
	p.On(plugin.Synchronize, gate.Hold)
	failed := make(chan error, 1)
	go func() { failed <- p.Connect(within(t, time.Minute), d.NRISocket()) }()
	<-gate.Entered()
	// With released NRI moby waits in its own call. With patched NRI the creation waits.
	request, _ := p.Timeouts()
	patience := within(t, request+slack)
	began := time.Now()
	_, err := d.Client().Info(patience, client.InfoOptions{})
	require.NoError(t, err)
	t.Logf("info took %s", time.Since(began))
	began = time.Now()
	_, err = d.try(patience, "meanwhile")
	require.NoError(t, err, "a plugin that hangs costs others one timeout")
	t.Logf("creation took %s", time.Since(began))
	gate.Release()
	<-failed
	p.On(plugin.Synchronize, nil)
	require.Equal(t, d.has(), received(d.join(plugin.New("20", "second"))))
}

func TestSecondPluginOfAName(t *testing.T) {
	d := start(t)
	for range 2 {
		p := plugin.New("10", "adjuster")
		p.On(plugin.CreateContainer, env)
		d.join(p)
	}
	id, _ := d.create("one")
	d.requireEnv(id)
}

func TestDaemonIsKilledWhileItCreates(t *testing.T) {
	d := start(t)
	for round := range 3 {
		first := d.join(plugin.New("10", "first"))
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan int)
		go func() {
			count := 0
			// The first creation may fail because of a folder that the killed containerd has left,
			// with either NRI.
			for ; ctx.Err() == nil; count++ {
				_, _ = d.try(ctx, fmt.Sprintf("r%d-%d", round, count))
			}
			done <- count
		}()
		require.NoError(t, wait.Until(within(t, time.Minute), "three creations", func(context.Context) error {
			if n := len(received(first)); n < 3*(round+1) {
				return fmt.Errorf("%d so far", n)
			}
			return nil
		}))
		require.NoError(t, d.Kill(within(t, time.Minute)))
		cancel()
		t.Logf("killed in %d creations", <-done)
		require.NoError(t, wait.Until(within(t, time.Minute), "the end of the connection", func(context.Context) error {
			select {
			case <-first.Closed():
				return nil
			default:
				return fmt.Errorf("it is open")
			}
		}))
		require.NoError(t, d.Boot(within(t, time.Minute)))
		require.Equal(t, d.has(), received(d.join(plugin.New("20", "second"))))
	}
}

// A reload of the configuration restarts NRI, during creations and joins.
func TestReloadBesideCreationsAndJoins(t *testing.T) {
	d := start(t)
	ctx, cancel := context.WithCancel(t.Context())
	p, err := plugin.Start(d.NRISocket(), plugin.Script{Index: "10", Name: "returns", Returns: true})
	require.NoError(t, err)
	defer func() { assert.NoError(t, p.Kill()) }()
	var count atomic.Int32
	done := make(chan error)
	go func() {
		for ctx.Err() == nil {
			id, err := d.try(t.Context(), fmt.Sprint("c", count.Load()))
			if err == nil && count.Add(1)%2 == 0 {
				_, err = d.Client().ContainerRemove(t.Context(), id, client.ContainerRemoveOptions{})
			}
			if err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	for round := range 5 {
		require.NoError(t, d.Reload())
		require.NoError(t, wait.Until(within(t, time.Minute), "creations after a reload", func(context.Context) error {
			if n := count.Load(); n < int32(5*(round+1)) {
				return fmt.Errorf("%d so far", n)
			}
			return nil
		}))
	}
	cancel()
	require.NoError(t, <-done)
	require.Equal(t, d.has(), received(d.join(plugin.New("20", "second"))))
	last, _ := d.create("last")
	require.NoError(t, wait.Until(within(t, 10*time.Second), "the plugin that returns to be asked", func(context.Context) error {
		if !slices.Contains(received(p), last) {
			return fmt.Errorf("its last connection received %d containers", len(received(p)))
		}
		return nil
	}))
	require.Subset(t, received(p), d.has())
}
