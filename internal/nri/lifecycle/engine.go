// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/hookline-nri/hookline/internal/nri/lifecycle/catchup"
	"github.com/hookline-nri/hookline/internal/nri/lifecycle/ledger"
)

// Options are the settings of an Engine. The zero value of each is its default.
type Options struct {
	// RequestTimeout is how long a plugin may take for one event, from when
	// it was sent. It is asked at each event. Default 2 s.
	RequestTimeout func() time.Duration

	// SyncTimeout is how long a plugin may take for its Synchronize, and how long
	// others wait for such plugins. It is asked at each Join. Default is RequestTimeout.
	// Either timeout may be another for one plugin, see Connection.Timeouts.
	SyncTimeout func() time.Duration

	// ListTimeout is how long a plugin that joins waits for List. It is asked at
	// each Join. Default 5 s. No event waits for the plugin meanwhile. A successor for
	// which the runtime lists once more, see HandOver, waits no longer than SyncTimeout.
	ListTimeout func() time.Duration

	// Required says which plugins have to answer a first event, without whose
	// answers Ask fails (L20). It is asked once at each of them, and an error of
	// it fails Ask. Default none.
	Required func(Event) ([]Requirement, error)

	// TeardownWait is how long a Teardown waits for all plugins together. It
	// is asked at each Teardown. Default is RequestTimeout.
	TeardownWait func() time.Duration

	// BacklogLimit is how many events may wait for one plugin before it is
	// dropped. Default 4096.
	BacklogLimit int

	// BacklogBytes is how many bytes they may have, as Weigh has it. Default
	// 64 MiB.
	BacklogBytes int

	// Weigh says how many bytes it takes to keep an event. Default none.
	Weigh func(Event) int

	// OverdueLimit is how long a plugin that is kept may are overdue before it
	// is dropped, from the end of its timeout. Default 10 min.
	OverdueLimit time.Duration

	// OmitCreating leaves pods that are being created out of what a connection
	// is synchronized with, if it is going to be asked for them.
	OmitCreating bool

	// List lists for connections that join. It must return every pod, those
	// included that are being created, and every container that is created or
	// running. The runtime reads what is under way before what is complete, so
	// that nothing falls between the two; an object may be in both. Objects whose
	// Remove it has handed in may be in the list or not. A pod that lists are without for ten
	// minutes, and whose Remove was not handed in, has ended for plugins. List has to return soon
	// after ctx has ended, with the engine.
	List func(ctx context.Context) (Snapshot, error)

	// ImpliedEnd makes the request of an end that a plugin has to be told and
	// that the runtime did not hand in: a Stop before a Remove that came alone, an
	// end of a container before that of its pod. kind says which, container is
	// empty for the pod's own Stop. of is the end that was handed in or, for a
	// container on its way to the runtime's list, its CreateContainer; or its Request is
	// the Value of the pod or container as the runtime has listed it, or nil. By
	// default such events have no request. It is called with a lock held, and must not
	// call the engine.
	ImpliedEnd func(kind Kind, container string, of Event) any

	// Unheard is given the replies that nobody waited for: those that came
	// late, and those to Teardowns without an apply function. For one connection
	// they come one after the other, in the order in which it gave them. Unheard
	// must be quick: the plugin is not sent anything meanwhile.
	Unheard func(conn Connection, event Event, reply any)

	// Missed keeps the ends that plugins have not heard, for when they come back. By
	// default nothing is kept of a connection that has closed.
	MissedEvents MissedEvents

	// Cut lists, by the name of the plugin, the pods and containers that were being
	// created when the runtime was killed, that the plugin was told of, and that the
	// runtime has no record of. Recall asks for them. Default none.
	Cut func() iter.Seq2[string, Object]

	// Encode and Decode make a text of the Request of an end, and a Request of that. By
	// default there are none. They are called with a lock held, and must not call the engine.
	Encode func(Event) string
	Decode func(Event, string) any

	// HandOver says of a connection that it is the successor of one of its name that is
	// there, if HandOver says so of that too (L19). It is asked at each
	// Join. By default there are no successors: two connections of a name are both
	// served.
	HandOver func(Connection) bool

	// Origin says where a connection comes from, for connections of which HandOver
	// speaks: the same for all that one pod or service opens. A plugin that has been
	// succeeded and comes back from there waits until its successor leaves. Empty, as
	// by default, is none.
	Origin func(Connection) string

	// Waits is told, once, of a connection that joins and waits for others of its name to
	// leave, which may be for ever. By default nobody is told.
	Waits func(Connection)

	// Begun makes the Request of a first event for a successor that has missed it, of a
	// pod or container as the runtime lists it: of the Value of that pod and, for a
	// container, of its own. It is called with a lock held, and must not call the engine.
	// By default such events have no request.
	Begun func(ev Event, pod, value any) any

	// Observer is told of all that happens.
	Observer Observer
}

// An Engine tells connections of the lives of pods and containers, by the
// contract that the package documentation states. Its methods may be called
// from any goroutine.
type Engine struct {
	opts    Options
	records *catchup.Records // what plugins miss, nil without Options.MissedEvents
	since   time.Time        // when it was made
	ctx     context.Context  // of the engine itself
	stop    context.CancelFunc

	// work are the goroutines that watch connections, one for each, and the one
	// that takes inventories.
	work sync.WaitGroup

	// mu guards what follows. It is held for the work of a few maps and
	// slices. A lane's lock is taken under it, and never the other way round.
	mu        sync.Mutex
	closed    bool
	sessions  map[*session]bool // all that came in and have not left
	arrivals  uint64            // how many came in
	names     map[string]*lane  // the lane of each name
	lanes     []*lane           // all, in index order; replaced, never changed
	askable   []*lane           // of those, the ones whose session was listed for; likewise
	unlisted  []*session        // those that wait for an inventory to begin
	listing   []*session        // those for which one is being taken
	taking    bool              // whether takeInventories runs
	lists     uint64            // the number of the last connection that was listed for
	listedAt  time.Time         // when the last inventory began
	creations map[ledger.ID]*creation
	missing   map[ledger.ID]time.Time // that no list has since, though its removal was not handed in
	ended     endedObjects
	removed   removals
	failed    recent          // plugins whose last connection was not synchronized
	absent    recent          // plugins that were synchronized once, and have left
	changed   chan struct{}   // closed at the next change, nil if nobody waits for one
	agreed    map[string]bool // pods all were asked for, until their end: kept with OmitCreating
}

// New returns an engine without connections.
func New(opts Options) *Engine {
	if opts.RequestTimeout == nil {
		opts.RequestTimeout = func() time.Duration { return 2 * time.Second }
	}
	if opts.SyncTimeout == nil {
		opts.SyncTimeout = opts.RequestTimeout
	}
	if opts.ListTimeout == nil {
		opts.ListTimeout = func() time.Duration { return 5 * time.Second }
	}
	if opts.TeardownWait == nil {
		opts.TeardownWait = opts.RequestTimeout
	}
	if opts.BacklogLimit == 0 {
		opts.BacklogLimit = 4096
	}
	if opts.BacklogBytes == 0 {
		opts.BacklogBytes = 64 << 20
	}
	if opts.Weigh == nil {
		opts.Weigh = func(Event) int { return 0 }
	}
	if opts.OverdueLimit == 0 {
		opts.OverdueLimit = 10 * time.Minute
	}
	if opts.List == nil {
		opts.List = func(context.Context) (Snapshot, error) { return Snapshot{}, nil }
	}
	if opts.ImpliedEnd == nil {
		opts.ImpliedEnd = func(Kind, string, Event) any { return nil }
	}
	if opts.Unheard == nil {
		opts.Unheard = func(Connection, Event, any) {}
	}
	if opts.Encode == nil {
		opts.Encode = func(Event) string { return "" }
	}
	if opts.Decode == nil {
		opts.Decode = func(Event, string) any { return nil }
	}
	if opts.HandOver == nil {
		opts.HandOver = func(Connection) bool { return false }
	}
	if opts.Origin == nil {
		opts.Origin = func(Connection) string { return "" }
	}
	if opts.Waits == nil {
		opts.Waits = func(Connection) {}
	}
	if opts.Begun == nil {
		opts.Begun = func(Event, any, any) any { return nil }
	}
	if opts.Observer == nil {
		opts.Observer = unobserved{}
	}
	e := &Engine{
		opts:      opts,
		since:     time.Now(),
		creations: make(map[ledger.ID]*creation),
		ended:     make(endedObjects),
		agreed:    make(map[string]bool),
		failed:    make(recent),
		absent:    make(recent),
		sessions:  make(map[*session]bool),
		names:     make(map[string]*lane),
	}
	if opts.MissedEvents != nil {
		e.records = &catchup.Records{Store: opts.MissedEvents, Encode: opts.Encode, Implied: opts.ImpliedEnd}
	}
	e.ctx, e.stop = context.WithCancel(context.Background())
	return e
}

// Close drops all connections, lets go of all who wait, and returns when no
// goroutine of the engine is left. Events of a closed engine reach no one.
func (e *Engine) Close() {
	e.stop()
	e.mu.Lock()
	e.closed = true
	sessions := slices.Collect(maps.Keys(e.sessions))
	e.mu.Unlock()
	for _, s := range sessions {
		e.drop(s, ErrClosed)
	}
	e.work.Wait()
}

// asked returns the connections that are asked, in index order. What an event is of is there.
func (e *Engine) asked(ev Event) []*lane {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.missing, ledger.ID{Pod: ev.Pod})
	return e.askable
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

// without returns the lanes with one less.
func without(lanes []*lane, l *lane) []*lane {
	if i := slices.Index(lanes, l); i >= 0 {
		return slices.Delete(slices.Clone(lanes), i, i+1)
	}
	return lanes
}
