// SPDX-License-Identifier: Apache-2.0

package cases

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// everything lists all events that a plugin may receive here.
var everything = append([]plugin.Event{
	plugin.Configure, plugin.Synchronize, plugin.UpdatePodSandbox, plugin.PostUpdatePodSandbox,
	plugin.UpdateContainer, plugin.PostUpdateContainer,
}, Whole...)

// unstable is a plugin that crashes after a few events, during one, and reconnects at once.
type unstable struct {
	*plugin.Plugin
	random *rand.Rand

	mu      sync.Mutex // guards the fields below
	left    int        // events until the crash
	crashed bool       // in this connection
	healthy bool       // crashes no more
}

func newUnstable(t TB, index string, seed uint64) *unstable {
	u := &unstable{Plugin: NewPlugin(t, index, "unstable"), random: rand.New(rand.NewPCG(seed, seed))}
	for _, event := range everything {
		u.On(event, func(ctx context.Context, call *plugin.Call) error {
			if u.crashes() {
				return plugin.Crash(ctx, call)
			}
			return nil
		})
	}
	return u
}

// crashes counts an event, and reports whether the plugin crashes at it.
func (u *unstable) crashes() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.left--
	crashes := u.left == 0 && !u.healthy
	u.crashed = u.crashed || crashes
	return crashes
}

// begins starts a connection.
func (u *unstable) begins() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.left, u.crashed = 1+u.random.IntN(40), false
}

// stays ends the crashes, and reports whether none is in progress.
func (u *unstable) stays() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.healthy = true
	return !u.crashed && IsOpen(u.Closed())
}

// live connects, crashes and reconnects until done, and then stays connected.
func (u *unstable) live(ctx context.Context, n Runtime, done <-chan struct{}) error {
	for {
		u.begins()
		connecting, cancel := context.WithTimeout(ctx, Patience)
		err := u.Connect(connecting, n.NRISocket())
		stuck := connecting.Err() != nil
		cancel()
		if stuck {
			return err
		}
		if err != nil {
			continue // it crashed before it was synchronized
		}
		select {
		case <-u.Closed():
		case <-done:
			if u.stays() {
				return nil
			}
			<-u.Closed()
		}
	}
}

var _ = Joining.has("L3_EndsAreDeliveredWhilePluginsCrashAndReturn", Needs{}, func(t T) {
	const workers, lives = 6, 7
	n := t.Runtime()
	steady := NewPlugin(t, "20", "steady")
	Connect(t, n, steady)
	crashing := []*unstable{newUnstable(t, "10", 1), newUnstable(t, "20", 2), newUnstable(t, "30", 3)}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan struct{})
	var alive sync.WaitGroup
	returned := make([]error, len(crashing))
	for i, u := range crashing {
		Watch(t, u.Plugin)
		t.Cleanup(u.Crash)
		alive.Go(func() { returned[i] = u.live(ctx, n, done) })
	}

	load := NewWorkload(n.CRI())
	var led atomic.Int64
	// The load decides how many events reach a plugin before it crashes again. So pods are
	// created until each plugin has crashed often enough, within bounds.
	enough := func() bool {
		return !slices.ContainsFunc(crashing, func(u *unstable) bool { return len(u.Calls().Connections()) <= lives })
	}
	// The first call that fails is reported: it ends all others.
	working, leading := errgroup.WithContext(ctx)
	for worker := range workers {
		working.Go(func() error {
			for i := 0; i < lives || i < 10*lives && !enough(); i++ {
				led.Add(1)
				if err := load.Lead(leading, fmt.Sprintf("w%d-%d", worker, i), worker+i); err != nil {
					return err
				}
			}
			return nil
		})
	}
	worked := working.Wait()
	close(done)
	if worked != nil {
		cancel() // ends plugins that wait for a wedged runtime
	}
	alive.Wait()

	t.Promise("L13", "pods and registrations go on while plugins crash and reconnect", OnStock("registrations and removals deadlock"), func(t require.TestingT) {
		require.NoError(t, worked)
		for i, u := range crashing {
			require.NoError(t, returned[i])
			assert.Greater(t, len(u.Calls().Connections()), lives, "%s hardly crashed", u.Name())
		}
	})
	t.Promise("L3", "plugins that crash and reconnect receive each end of all that they know once", OnStock("pods that hang never end"), Eventually(func(t require.TestingT) {
		for _, u := range crashing {
			load.RequireContractKept(t, u.Plugin)
		}
	}))
	t.Promise("L3", "another plugin receives each event of all pods once", OnStock("pods that hang never end"), func(t require.TestingT) {
		load.RequireContractKept(t, steady)
		assert.Len(t, steady.Calls().Connections(), 1)
		assert.Len(t, steady.Calls(), 2+int(led.Load())*len(Whole))
	})
	t.Promise("L3", "nothing is left of the pods", OnStock("pods that hang stay"), func(t require.TestingT) { RequireNothingLeft(t, n) })
})
