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
	// it was sent. It is called for each event. Default 2 s.
	RequestTimeout func() time.Duration

	// SyncTimeout is how long a plugin may take for its Synchronize, and how long
	// events wait for such plugins. It is called at each Join. Default is RequestTimeout.
	// One plugin may have other timeouts, see Connection.Timeouts.
	SyncTimeout func() time.Duration

	// ListTimeout is how long a plugin that joins waits for List. It is called at
	// each Join. Default 5 s. No event waits for the plugin meanwhile. A successor for
	// which the runtime lists a second time, see HandOver, waits SyncTimeout at most.
	ListTimeout func() time.Duration

	// Required returns the plugins that must answer a first event: without their answers
	// Ask fails (L20). It is called once for each first event, and its error fails Ask.
	// Default none.
	Required func(context.Context, Event) ([]Requirement, error)

	// TeardownWait is how long a Teardown waits for all plugins together. It
	// is called at each Teardown. Default is RequestTimeout.
	TeardownWait func() time.Duration

	// BacklogLimit is how many events may wait for one plugin before it is
	// dropped. Default 4096.
	BacklogLimit int

	// BacklogBytes is how many bytes these events may have together, as Weigh counts
	// them. Default 64 MiB.
	BacklogBytes int

	// Weigh returns how many bytes it takes to keep an event. Default none.
	Weigh func(Event) int

	// OverdueLimit is how long a plugin that stays connected may be overdue before it
	// is dropped, from the end of its timeout. Default 10 min.
	OverdueLimit time.Duration

	// OmitCreating leaves pods that are being created out of the Synchronize of a
	// connection that will be asked for them.
	OmitCreating bool

	// List lists the pods and containers for connections that join. It must return every
	// pod, also pods that are being created, and every container that is created or running.
	// The runtime must read the objects that are being created before the complete ones, so
	// that it misses none; an object may be in the list twice. An object whose Remove the
	// runtime has submitted may be in the list or not. For plugins a pod has ended if lists
	// lack it for ten minutes, and its Remove was not submitted. List must return soon after
	// ctx has ended, which happens when the engine is closed. Expect calls it beside a call for
	// connections.
	List func(ctx context.Context) (Snapshot, error)

	// ImpliedEnd makes the request of an end that a plugin must receive and that the
	// runtime did not submit: a Stop before a Remove that was submitted alone, or an end of
	// a container before that of its pod. kind is its kind; container is empty for the Stop
	// of the pod. of is the submitted end or, for a container that the runtime does not list
	// yet, its CreateContainer. If there is neither, the Request of of is the Value of the
	// pod or container in the runtime's list, or nil. By default such events have no
	// request. It is called with a lock held, and must not call the engine.
	ImpliedEnd func(kind Kind, container string, of Event) any

	// TakeBack sends plugins what a pod or container has, if they may have something else after
	// an update (L26). The event is late and has no Request: the connection reads what holds when
	// it delivers the event. The runtime must then end each update for which Ask returned nil,
	// with its PostUpdateContainer or PostUpdatePodSandbox, or with Refused.
	TakeBack bool

	// Unheard receives the replies that no caller waited for: late replies, and replies to
	// Teardowns without an apply function. The replies of one connection come one
	// after the other, in the order in which it gave them. Unheard must be quick: the
	// plugin receives nothing meanwhile.
	Unheard func(conn Connection, event Event, reply any)

	// MissedEvents keeps the ends that plugins have missed until they are back. By
	// default nothing is kept of a connection that has closed.
	MissedEvents MissedEvents

	// Cut lists, by the name of the plugin, the pods and containers whose creation was
	// interrupted when the runtime was killed: the plugin received them, and the runtime has
	// no record of them. Recall calls it. Default none.
	Cut func() iter.Seq2[string, Object]

	// Encode turns the Request of an end into a text, and Decode a text into a Request.
	// The defaults lose the Request. They are called with a lock held, and must not call
	// the engine.
	Encode func(Event) string
	Decode func(Event, string) any

	// HandOver reports whether a connection takes part in handing over: it succeeds a
	// connected one of its name, if HandOver is true for both (L19). It is called at each
	// Join. By default there are no successors: two connections of a name are both
	// served.
	HandOver func(Connection) bool

	// Origin returns where a connection comes from, if HandOver is true for it. All
	// connections that one pod or service opens have the same origin. If a connection was
	// succeeded, and its plugin connects again from that origin, it waits until the
	// successor leaves. Empty, the default, is no origin.
	Origin func(Connection) string

	// Waits is called once for a connection that joins and waits for others of its name
	// to leave, which may take forever. By default nothing is called.
	Waits func(Connection)

	// Begun makes the Request of a first event that a successor has missed. pod is the
	// Value of the pod in the runtime's list, and value that of the event's pod or
	// container. It is called with a lock held, and must not call the engine. By default
	// such events have no request.
	Begun func(ev Event, pod, value any) any

	// Observer is called for all that happens.
	Observer Observer
}

// An Engine delivers the events of pods and containers to connections, by the contract in the
// package documentation. Its methods may be called from any goroutine.
type Engine struct {
	opts    Options
	records *catchup.Records // what plugins miss, nil without Options.MissedEvents
	since   time.Time        // when it was made
	ctx     context.Context  // of the engine itself
	stop    context.CancelFunc

	// work counts the goroutines that watch connections, one for each, and the goroutine
	// that takes inventories.
	work sync.WaitGroup

	// mu guards what follows. It is held for the work of a few maps and
	// slices. A lane's lock is taken under it, and never the other way round.
	mu        sync.Mutex
	closed    bool
	sessions  map[*session]bool // all that have registered and not left
	arrivals  uint64            // how many have registered
	names     map[string]*lane  // the lane of each name
	lanes     []*lane           // all, in index order; replaced, never changed
	askable   []*lane           // the lanes whose session has its inventory; likewise
	unlisted  []*session        // sessions that wait for an inventory to begin
	listing   []*session        // sessions whose inventory is being taken
	taking    bool              // whether takeInventories runs
	lists     uint64            // the number of the last session that got an inventory
	listedAt  time.Time         // when the last inventory began
	creations map[ledger.ID]*creation
	missing   map[ledger.ID]time.Time // objects that lists lack since then, without a submitted Remove
	ended     endedObjects
	removed   removals
	failed    recent          // plugins whose last connection was not synchronized
	absent    recent          // plugins that were synchronized once, and have left
	off       map[string]bool // names that are turned off
	changed   chan struct{}   // closed at the next change, nil if no goroutine waits for one
	agreed    map[string]bool // with OmitCreating, pods that all plugins approved, until their end

	updates updates // of pods and containers, under way
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
		off:       make(map[string]bool),
		sessions:  make(map[*session]bool),
		names:     make(map[string]*lane),
		updates:   updates{underWay: make(map[ledger.ID]*changing)},
	}
	if opts.MissedEvents != nil {
		e.records = &catchup.Records{Store: opts.MissedEvents, Encode: opts.Encode, Implied: opts.ImpliedEnd}
	}
	e.ctx, e.stop = context.WithCancel(context.Background())
	return e
}

// Close drops all connections, releases all callers that wait, and returns when no goroutine
// of the engine is left. A closed engine delivers no events.
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

// asked returns the lanes to ask, in index order. The event proves that its pod exists.
func (e *Engine) asked(ev Event) []*lane {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.missing, ledger.ID{Pod: ev.Pod})
	return e.askable
}

// insert returns the lanes with one more, in its place: lanes of one index are in the order in
// which they joined.
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
