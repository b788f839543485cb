// SPDX-License-Identifier: Apache-2.0

package missed

import (
	"cmp"
	"container/list"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"
)

// The bounds of a store whose Options name none.
const (
	DefaultTTL   = 24 * time.Hour
	DefaultBytes = 64 << 20
)

// Options are the settings of a Store. The zero value of each but Path is its default.
type Options struct {
	// Path is the file. If it is empty, everything is in memory only.
	Path string

	// TTL is how long a name may be disconnected before it is forgotten.
	TTL time.Duration
	// Bytes is how much memory all names together may take.
	Bytes int
	// Reserved reports whether only certain plugins may use a name. Default: no name is reserved.
	Reserved func(name string) bool

	// Patience is the longest that Sync waits for the file. Default 2 s.
	Patience time.Duration

	// Now is the clock. Default time.Now.
	Now func() time.Time

	// The callbacks must be quick, and must not call the store.

	// Noted is called for each end that a name misses.
	Noted func(name, kind string)
	// Dropped is called for ends that will not be delivered. The reason is "age", "limit" or
	// "forgotten". ends is 0 for a name that missed none, but knew pods or containers.
	Dropped func(name, reason string, ends int)
	// Crowded is called for a new name that is not kept, for lack of room.
	Crowded func(name string)
	// Failed is called for each error of the file.
	Failed func(error)
}

// Presence and Due are those of NRI's engine. They are aliases of unnamed structs, so that the
// store implements the engine's interface without importing the engine.

// A Presence says which kinds of ends a name wants, since when it is disconnected (zero if it
// is connected), and how many ends it has missed.
type Presence = struct {
	Wants        []string
	Disconnected time.Time
	Missed       int
}

// A Due is an end that a name has missed.
type Due = struct {
	Kind    string
	Object  [2]string
	Request string
}

// A Store keeps the events that plugins miss. Its methods may be called from any goroutine.
// Only Sync and Close wait for the file.
type Store struct {
	opts Options

	mu    sync.Mutex // guards the fields below, not held while the file is written
	names map[string]*name
	ends  map[content]*end // those that some name has missed
	used  int              // bytes that names and ends take
	last  uint64           // the last number that was assigned
	file  writer
}

// A name is everything that is kept of one plugin name.
type name struct {
	wants   []string
	left    time.Time // zero if it is connected
	counted time.Time // when its time to live began: when it disconnected, or when this run began
	known   map[[2]string]bool
	missed  *list.List // of due, in order
	index   map[key]*list.Element
	bytes   int // its size, counting each end in full, also those that other names share
}

// key identifies an end to a plugin.
type key struct {
	kind   string
	object [2]string
}

// content identifies an end to the store.
type content struct {
	key
	request string
}

// An end is kept once for all names that have missed it.
type end struct {
	content
	number uint64 // in the file
	names  int    // how many have missed it
}

// A due is an end that a name has missed.
type due struct {
	*end
	place uint64 // in the file, among the missed events of the name
}

func newName() *name {
	return &name{known: make(map[[2]string]bool), missed: list.New(), index: make(map[key]*list.Element)}
}

// dues returns the ends that a name has missed, the oldest first.
func (n *name) dues() iter.Seq[due] {
	return func(yield func(due) bool) {
		for e := n.missed.Front(); e != nil; e = e.Next() {
			if !yield(e.Value.(due)) {
				return
			}
		}
	}
}

// Joined notes that a plugin of the name is connected, and which kinds of ends it wants.
func (s *Store) Joined(of string, wants []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.names[of]
	if n == nil {
		if !s.makeRoom(of) {
			s.opts.Crowded(of)
			return
		}
		n = s.add(of)
	}
	n.wants, n.left = wants, time.Time{}
	s.forgetKnown(of, n)
	s.file.add(presenceOf(of, n))
}

func (s *Store) add(of string) *name {
	n := newName()
	s.names[of] = n
	s.charge(n, entryCost+len(of))
	return n
}

// Left notes that the name is disconnected, and which objects it knows. The value of an object
// is whether the name has received that it stopped.
func (s *Store) Left(of string, known iter.Seq2[[2]string, bool]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.names[of]
	if n == nil {
		return
	}
	n.left = s.opts.Now()
	n.counted = n.left
	s.forgetKnown(of, n)
	s.file.add(presenceOf(of, n))
	for object, stopped := range known {
		s.know(n, object, stopped)
		s.file.add(knownOf(of, object, stopped))
	}
	s.fit()
}

func (s *Store) know(n *name, object [2]string, stopped bool) {
	n.known[object] = stopped
	s.charge(n, knownCost(object))
}

func (s *Store) unknow(n *name, object [2]string) {
	delete(n.known, object)
	s.charge(n, -knownCost(object))
}

func (s *Store) forgetKnown(of string, n *name) {
	for object := range n.known {
		s.unknow(n, object)
	}
	s.file.add(nothingKnownOf(of))
}

// Miss notes an end that the name has not received, once. It returns false if there is no such
// name.
func (s *Store) Miss(of, kind string, object [2]string, request string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep()
	n := s.names[of]
	if n == nil {
		return false
	}
	k := key{kind, object}
	if n.index[k] != nil {
		return true
	}
	d := due{s.shared(content{k, request}), s.number()}
	s.enter(n, d)
	s.file.add(missedOf(of, d))
	s.opts.Noted(of, kind)
	s.fit()
	return true
}

// shared returns the end that other names have missed, or a new one.
func (s *Store) shared(c content) *end {
	if e := s.ends[c]; e != nil {
		return e
	}
	e := s.newEnd(c, s.number())
	s.file.add(endOf(e))
	return e
}

func (s *Store) newEnd(c content, number uint64) *end {
	e := &end{content: c, number: number}
	s.ends[c] = e
	s.used += e.cost()
	return e
}

func (s *Store) number() uint64 {
	s.last++
	return s.last
}

// enter adds an end to those that a name has missed.
func (s *Store) enter(n *name, d due) {
	n.index[d.key] = n.missed.PushBack(d)
	d.names++
	s.used += entryCost
	n.bytes += entryCost + d.cost()
}

// settle removes an end from those that a name has missed.
func (s *Store) settle(of string, n *name, d due) {
	n.missed.Remove(n.index[d.key])
	delete(n.index, d.key)
	s.file.add(settledOf(of, d))
	s.release(n, d)
}

// release drops an end once no name misses it any more.
func (s *Store) release(n *name, d due) {
	s.used -= entryCost
	n.bytes -= entryCost + d.cost()
	if d.names--; d.names == 0 {
		delete(s.ends, d.content)
		s.used -= d.cost()
		s.file.released(d.end)
	}
}

// Delivered notes that the name received an end, and returns how many ends it still misses.
func (s *Store) Delivered(of, kind string, object [2]string) (left int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.names[of]
	if n == nil {
		return 0
	}
	if e := n.index[key{kind, object}]; e != nil {
		s.settle(of, n, e.Value.(due))
	}
	return n.missed.Len()
}

// Forget drops a name, and returns how many ends it had missed.
func (s *Store) Forget(of string) (dropped int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.drop(of, "forgotten")
}

func (s *Store) drop(of, reason string) int {
	n := s.names[of]
	if n == nil {
		return 0
	}
	held := n.holds()
	s.forgetKnown(of, n)
	for d := range n.dues() {
		s.release(n, d)
	}
	s.charge(n, -entryCost-len(of))
	delete(s.names, of)
	s.file.add(forgottenOf(of))
	if held {
		s.opts.Dropped(of, reason, n.missed.Len())
	}
	return n.missed.Len()
}

// Names returns the names that are kept.
func (s *Store) Names() iter.Seq2[string, Presence] {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep()
	all := make(map[string]Presence, len(s.names))
	for of, n := range s.names {
		all[of] = Presence{n.wants, n.left, n.missed.Len()}
	}
	return maps.All(all)
}

// Known returns the objects that a disconnected name knows.
func (s *Store) Known(of string) iter.Seq2[[2]string, bool] {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := cmp.Or(s.names[of], newName())
	return maps.All(maps.Clone(n.known))
}

// Missed returns the ends that a name has missed, the oldest first.
func (s *Store) Missed(of string) iter.Seq[Due] {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep()
	n := cmp.Or(s.names[of], newName())
	all := make([]Due, 0, n.missed.Len())
	for d := range n.dues() {
		all = append(all, Due{d.kind, d.object, d.request})
	}
	return slices.Values(all)
}

// Bytes returns the size of everything that is kept.
func (s *Store) Bytes() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used
}

// Sync returns when everything noted before is in the file, or writing it has failed. It waits
// no longer than Patience. After such a timeout it does not wait at all until a write succeeds.
func (s *Store) Sync() {
	s.mu.Lock()
	batch := s.file.unwritten()
	if batch == nil {
		s.mu.Unlock()
		return
	}
	s.mu.Unlock()
	s.file.hurry()
	timer := time.NewTimer(s.opts.Patience)
	defer timer.Stop()
	select {
	case <-batch.done:
	case <-timer.C:
		s.stalled(batch)
	}
}
