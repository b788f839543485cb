// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"slices"
	"sync"
	"time"
)

// Options are the settings of an Engine. The zero value of each is its default.
type Options struct {
	// RequestTimeout is how long a plugin may take for one event, from when
	// it was sent. It is asked at each event. Default 2 s.
	RequestTimeout func() time.Duration

	// SyncTimeout is how long a plugin may take for its Synchronize. It is
	// asked at each Join. Default 5 s.
	SyncTimeout func() time.Duration

	// TeardownWait is how long a Teardown waits for all plugins together. It
	// is asked at each Teardown. Default is RequestTimeout.
	TeardownWait func() time.Duration

	// BacklogLimit is how many events may wait for one plugin before it is
	// dropped. Default 4096.
	BacklogLimit int

	// OmitCreating leaves pods that are being created out of what a connection
	// is synchronized with, if it is going to be asked for them.
	OmitCreating bool

	// Ending makes the request of an end that is owed to a plugin and that
	// the runtime did not hand in: a Stop before a Remove that came alone, an
	// end of a container before that of its pod. kind says which, container is
	// empty for the pod's own Stop. of is the end that was handed in or, for a
	// container on its way to the runtime's list, its CreateContainer. By
	// default such events have no request.
	Ending func(kind Kind, container string, of Event) any

	// Alive says whether the runtime has a pod and is not stopping it. It is
	// asked when the creation of a container is under way, so that the end of
	// its pod finds it, and before anybody is told: of a pod that is gone by
	// then nothing must come any more. By default all pods are alive until
	// their end is handed in, and again after Gone.
	Alive func(pod string) bool

	// Observer is told of all that happens.
	Observer Observer
}

// An Engine tells connections of the lives of pods and containers, by the
// contract that the package documentation states. Its methods may be called
// from any goroutine.
type Engine struct {
	opts Options

	// watchers are the goroutines that watch connections, one for each.
	watchers sync.WaitGroup

	// mu guards what follows. It is held for the work of a few maps and
	// slices, and never together with a lane's lock.
	mu        sync.Mutex
	closed    bool
	lanes     []*lane // in index order; replaced, never changed
	joins     uint64  // the number of the last connection that joined
	creations map[object]*creation
	endings   endings
	agreed    map[string]bool // pods all were asked for, until their end: kept with OmitCreating
}

// New returns an engine without connections.
func New(opts Options) *Engine {
	if opts.RequestTimeout == nil {
		opts.RequestTimeout = func() time.Duration { return 2 * time.Second }
	}
	if opts.SyncTimeout == nil {
		opts.SyncTimeout = func() time.Duration { return 5 * time.Second }
	}
	if opts.TeardownWait == nil {
		opts.TeardownWait = opts.RequestTimeout
	}
	if opts.BacklogLimit == 0 {
		opts.BacklogLimit = 4096
	}
	if opts.Ending == nil {
		opts.Ending = func(Kind, string, Event) any { return nil }
	}
	if opts.Alive == nil {
		opts.Alive = func(string) bool { return true }
	}
	if opts.Observer == nil {
		opts.Observer = unobserved{}
	}
	return &Engine{
		opts:      opts,
		creations: make(map[object]*creation),
		endings:   make(endings),
		agreed:    make(map[string]bool),
	}
}

// Close drops all connections, lets go of all who wait, and returns when no
// goroutine of the engine is left. Events of a closed engine reach no one.
func (e *Engine) Close() {
	e.mu.Lock()
	e.closed = true
	lanes := e.lanes
	e.mu.Unlock()
	for _, l := range lanes {
		e.drop(l, ErrClosed)
	}
	e.watchers.Wait()
}

// connected returns the connections in index order.
func (e *Engine) connected() []*lane {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.lanes
}

// insert returns the lanes with one more, in its place: those of one index are
// in the order in which they joined.
func insert(lanes []*lane, l *lane) []*lane {
	i, _ := slices.BinarySearchFunc(lanes, l, func(a, b *lane) int {
		if a.index > b.index {
			return 1
		}
		return -1
	})
	return slices.Insert(slices.Clone(lanes), i, l)
}

// drop ends a connection. Its watcher sees to the rest.
func (e *Engine) drop(l *lane, reason error) {
	if !l.close(reason) {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if i := slices.Index(e.lanes, l); i >= 0 {
		e.lanes = slices.Delete(slices.Clone(e.lanes), i, i+1)
	}
}

// watch waits for the end of a connection, of itself or by a drop, and sees
// it through.
func (e *Engine) watch(l *lane) {
	defer e.watchers.Done()
	select {
	case <-l.conn.Closed():
		e.drop(l, ErrClosed)
	case <-l.gone:
	}
	l.conn.Close()
	l.work.Wait()
	e.opts.Observer.Left(l.conn, l.closed)
}
