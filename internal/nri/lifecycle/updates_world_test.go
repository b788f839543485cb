// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// values are the memory and the CPUs of a container.
type values [2]atomic.Int64

func (v *values) all() [2]int64 { return [2]int64{v[0].Load(), v[1].Load()} }

func (v *values) put(all [2]int64) {
	v[0].Store(all[0])
	v[1].Store(all[1])
}

// A change gives a container other memory or other CPUs.
type change struct {
	part  int // of values
	value int64
}

// A bookkeeper is a plugin that keeps a book of what a container has, as a CPU policy does.
type bookkeeper struct {
	*plugin
	book   values
	refuse atomic.Bool
	slow   atomic.Int64 // how long it takes for an update
}

// bookkeeper returns a plugin of a name, which takes some time for its Synchronize.
func (n *updatedNode) bookkeeper(name string) *bookkeeper {
	b := &bookkeeper{plugin: newPlugin(name)}
	b.keepConnected = n.chance(2)
	slow := n.upTo(requestTimeout)
	b.synchronize = func(_ context.Context, s Snapshot) error {
		time.Sleep(slow)
		for _, c := range s.Containers {
			b.book.put(c.Value.([2]int64))
		}
		return nil
	}
	b.handle = func(_ context.Context, ev Event) (any, error) {
		switch {
		case !ev.Kind.Updates():
			return nil, nil
		case ev.Late:
			b.book.put(n.has.all())
			return nil, nil
		}
		refuses := b.refuse.Load()
		time.Sleep(time.Duration(b.slow.Load()))
		if refuses {
			return nil, errRejected
		}
		c := ev.Request.(change)
		b.book[c.part].Store(c.value)
		return nil, nil
	}
	return b
}

// An updatedNode updates one container again and again, two updates at a time. The runtime writes
// the new values before it knows whether they hold, as containerd does. Some it fails, and plugins
// refuse some, answer too late, crash, reconnect and hand over.
type updatedNode struct {
	*fixture
	has      values
	applying chan struct{} // has room for the one update that the runtime applies, as in CRI

	mu      sync.Mutex // guards what follows
	random  *rand.Rand
	plugins map[string]*bookkeeper
}

func (n *updatedNode) list(context.Context) (Snapshot, error) {
	all := n.has.all()
	time.Sleep(n.upTo(requestTimeout / 2))
	return Snapshot{Pods: pods("p1"), Containers: []Object{{Pod: "p1", Container: "c1", Value: all}}}, nil
}

func (n *updatedNode) upTo(d time.Duration) time.Duration {
	n.mu.Lock()
	defer n.mu.Unlock()
	return time.Duration(n.random.Int64N(int64(d)))
}

// chance is true once in of times.
func (n *updatedNode) chance(of int) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.random.IntN(of) == 0
}

// connect connects a plugin of a name. It succeeds the one that is connected, if there is one.
func (n *updatedNode) connect(name string) {
	b := n.bookkeeper(name)
	n.mu.Lock()
	n.plugins[name] = b
	n.mu.Unlock()
	require.NoError(n.t, n.Join(n.t.Context(), b, b.sync))
}

func (n *updatedNode) connected() map[string]*bookkeeper {
	n.mu.Lock()
	defer n.mu.Unlock()
	return maps.Clone(n.plugins)
}

// update asks for a change, which may hold.
func (n *updatedNode) update(to change) {
	for _, b := range n.connected() {
		b.refuse.Store(n.chance(6))
		b.slow.Store(0)
		if n.chance(4) {
			b.slow.Store(int64(n.upTo(3 * requestTimeout)))
		}
	}
	ev := Event{Kind: UpdateContainer, Pod: "p1", Container: "c1", Request: to}
	ctx, cancel := context.WithTimeout(n.t.Context(), requestTimeout/2+n.upTo(4*requestTimeout))
	defer cancel()
	if n.Ask(ctx, ev, nil) != nil {
		return
	}
	time.Sleep(n.upTo(requestTimeout))
	if n.applies(to) {
		time.Sleep(n.upTo(requestTimeout / 4))
		n.did("PostUpdateContainer:p1/c1")
		return
	}
	time.Sleep(n.upTo(requestTimeout / 4))
	require.NoError(n.t, n.Refused(ev))
}

// applies changes the container, and reports whether it has kept the change.
func (n *updatedNode) applies(c change) bool {
	n.applying <- struct{}{}
	defer func() { <-n.applying }()
	before := n.has[c.part].Swap(c.value)
	time.Sleep(n.upTo(requestTimeout))
	if n.chance(3) {
		n.has[c.part].Store(before)
		return false
	}
	return true
}

// disturb disconnects plugins, and connects others of their names, until the updates are over.
func (n *updatedNode) disturb(names []string, times int) {
	for range times {
		name := names[n.upTo(time.Duration(len(names)))]
		time.Sleep(n.upTo(2 * requestTimeout))
		if n.chance(2) {
			n.connected()[name].Close()
			time.Sleep(n.upTo(requestTimeout / 10))
		}
		n.connect(name)
	}
}

// After all of it, each plugin that is connected has in its book what the container has.
func TestL26_BooksHaveWhatHolds(t *testing.T) {
	for seed := range uint64(500) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := &updatedNode{applying: make(chan struct{}, 1), random: rand.New(rand.NewPCG(seed, 26)), plugins: map[string]*bookkeeper{}}
				n.has.put([2]int64{100, 100})
				n.fixture = newFixture(t, func(o *Options) {
					o.List, o.MissedEvents, o.TakeBack = n.list, newMemory(), true
					o.HandOver = func(Connection) bool { return true }
				})
				names := []string{"10-a", "20-b", "30-c"}
				for _, name := range names {
					n.connect(name)
				}
				var all sync.WaitGroup
				for updater := range int64(2) {
					all.Go(func() {
						for value := range int64(5) {
							n.update(change{part: int(n.upTo(2)), value: 200 + 100*updater + value})
							time.Sleep(n.upTo(2 * requestTimeout))
						}
					})
				}
				all.Go(func() { n.disturb(names, 8) })
				all.Wait()
				time.Sleep(time.Minute)
				synctest.Wait()
				for name, b := range n.plugins {
					if !b.isClosed() {
						assert.Equal(t, n.has.all(), b.book.all(), name)
					}
				}
			})
		})
	}
}
