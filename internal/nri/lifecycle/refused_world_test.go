// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A bookkeeper is a plugin that keeps a book of what a container has, as a CPU policy does.
type bookkeeper struct {
	*plugin
	book   atomic.Int64
	refuse atomic.Bool
	slow   atomic.Int64 // how long it takes for an update
}

func newBookkeeper(name string) *bookkeeper {
	b := &bookkeeper{plugin: newPlugin(name)}
	b.synchronize = func(_ context.Context, s Snapshot) error {
		for _, c := range s.Containers {
			b.book.Store(c.Value.(int64))
		}
		return nil
	}
	b.handle = func(_ context.Context, ev Event) (any, error) {
		if !ev.Kind.Updates() {
			return nil, nil
		}
		refuses := b.refuse.Load() && !ev.Late
		time.Sleep(time.Duration(b.slow.Load()))
		if refuses {
			return nil, errRejected
		}
		b.book.Store(ev.Request.(int64))
		return nil, nil
	}
	return b
}

// An updatedNode updates one container again and again. The runtime fails some updates, and plugins
// refuse some, answer too late, crash, reconnect and hand over.
type updatedNode struct {
	*fixture
	random  *rand.Rand
	holds   atomic.Int64
	plugins map[string]*bookkeeper
}

func (n *updatedNode) list(context.Context) (Snapshot, error) {
	return Snapshot{Pods: pods("p1"), Containers: []Object{{Pod: "p1", Container: "c1", Value: n.holds.Load()}}}, nil
}

func (n *updatedNode) upTo(d time.Duration) time.Duration {
	return time.Duration(n.random.Int64N(int64(d)))
}

// connect connects a plugin of a name. It succeeds the one that is connected, if there is one.
func (n *updatedNode) connect(name string) {
	b := newBookkeeper(name)
	n.plugins[name] = b
	require.NoError(n.t, n.Join(n.t.Context(), b, b.sync))
}

// update asks for a value, and reports whether it holds.
func (n *updatedNode) update(value int64) {
	for _, b := range n.plugins {
		b.refuse.Store(false)
		b.slow.Store(0)
		switch n.random.IntN(4) {
		case 0:
			b.refuse.Store(true)
		case 1:
			b.slow.Store(int64(n.upTo(3 * requestTimeout)))
		}
	}
	ev := Event{Kind: UpdateContainer, Pod: "p1", Container: "c1", Request: value}
	ctx, cancel := context.WithTimeout(n.t.Context(), requestTimeout/2+n.upTo(4*requestTimeout))
	defer cancel()
	switch err := n.Ask(ctx, ev, nil); {
	case err != nil:
	case n.random.IntN(3) == 0:
		require.NoError(n.t, n.Refused(ev))
	default:
		n.holds.Store(value)
	}
}

// After all of it, each plugin that is connected has in its book what the container has.
func TestL26_BooksHaveWhatHolds(t *testing.T) {
	for seed := range uint64(500) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := &updatedNode{random: rand.New(rand.NewPCG(seed, 26)), plugins: map[string]*bookkeeper{}}
				n.holds.Store(100)
				n.fixture = newFixture(t, func(o *Options) {
					o.List, o.MissedEvents = n.list, newMemory()
					o.Holds = func(Event) any { return n.holds.Load() }
					o.HandOver = func(Connection) bool { return true }
				})
				names := []string{"10-a", "20-b", "30-c"}
				for _, name := range names {
					n.connect(name)
				}
				for value := range int64(8) {
					n.update(200 + value)
					name := names[n.random.IntN(len(names))]
					switch n.random.IntN(4) {
					case 0:
						n.plugins[name].Close()
						synctest.Wait()
						n.connect(name)
					case 1:
						n.connect(name)
					case 2:
						time.Sleep(n.upTo(2 * requestTimeout))
					}
				}
				time.Sleep(time.Minute)
				synctest.Wait()
				for name, b := range n.plugins {
					if !b.isClosed() {
						assert.Equal(t, n.holds.Load(), b.book.Load(), name)
					}
				}
			})
		})
	}
}
