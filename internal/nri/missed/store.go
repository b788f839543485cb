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

// The bounds of what is kept, where Options names none.
const (
	DefaultTTL   = 24 * time.Hour
	DefaultBytes = 64 << 20
)

// Options are the settings of a Store. The zero value of each but Path is its default.
type Options struct {
	// Path is the file. Empty keeps everything in memory alone.
	Path string

	// TTL is how long a name may be disconnected before it is forgotten.
	TTL time.Duration
	// Bytes is how much may be kept of all names together, in memory.
	Bytes int
	// Reserved tells whether not everybody may come under a name. Default: no name is.
	Reserved func(name string) bool

	// Patience is how long Sync waits for the file at most. Default 2 s.
	Patience time.Duration

	// Now is the clock. Default time.Now.
	Now func() time.Time

	// Noted is told of each end that a name is owed. Dropped is told of ends that will not
	// be told, with why: "age", "limit" or "forgotten". It is also told of a name that is
	// dropped and was owed none, but knew what is still to end. Crowded is told of a name that
	// came and is not kept, since there is room for no more. Failed is told of what goes wrong
	// with the file. All must be quick, and must not call the store.
	Noted   func(name, kind string)
	Dropped func(name, reason string, ends int)
	Crowded func(name string)
	Failed  func(error)
}

// Presence and Due are those of NRI's engine. They are aliases of structs without a
// name, for the store to be what the engine takes though it cannot import it.

// A Presence says whether a name is there, which kinds of ends it wants, and how many
// it is owed. Away is since when it is, zero if it is connected.
type Presence = struct {
	Wants        []string
	Disconnected time.Time
	Missed       int
}

// A Due is an end that is owed.
type Due = struct {
	Kind    string
	Object  [2]string
	Request string
}

// A Store keeps what plugins are owed. Its methods may be called from any goroutine,
// and none but Sync and Close waits for the file.
type Store struct {
	opts Options

	mu    sync.Mutex // guards what follows, and is not held while the file is written
	names map[string]*name
	ends  map[content]*end // those that some name is owed
	used  int              // bytes that names and ends take
	last  uint64           // number that was given last
	file  writer
}

// A name is all that is kept of one.
type name struct {
	wants   []string
	left    time.Time // zero if it is connected
	counted time.Time // from when its time to live is counted: since it is disconnected, in this run
	known   map[[2]string]bool
	missed  *list.List // of due, in order
	index   map[key]*list.Element
	bytes   int // what it takes, with each end as if no other name were owed it
}

// key is what makes two ends the same to a plugin.
type key struct {
	kind   string
	object [2]string
}

// content is what makes two ends the same to the store.
type content struct {
	key
	request string
}

// An end is kept once for all names that are owed it.
type end struct {
	content
	number uint64 // in the file
	names  int    // that have missed it
}

// A due is an end that a name is owed.
type due struct {
	*end
	place uint64 // in the file, among what the name is owed
}

func newName() *name {
	return &name{known: make(map[[2]string]bool), missed: list.New(), index: make(map[key]*list.Element)}
}

// dues returns what a name is owed, the oldest first.
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

// Left notes that the name is disconnected, and what it knows: each object with whether it was
// told that it has stopped.
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

// Miss notes an end that the name has not heard, once. It returns false if there is no such
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

// shared returns the end that others are owed, or a new one.
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

// enter has a name be owed an end.
func (s *Store) enter(n *name, d due) {
	n.index[d.key] = n.missed.PushBack(d)
	d.names++
	s.used += entryCost
	n.bytes += entryCost + d.cost()
}

// settle takes out an end that is owed no more.
func (s *Store) settle(of string, n *name, d due) {
	n.missed.Remove(n.index[d.key])
	delete(n.index, d.key)
	s.file.add(settledOf(of, d))
	s.release(n, d)
}

// release drops an end that no name is owed any more.
func (s *Store) release(n *name, d due) {
	s.used -= entryCost
	n.bytes -= entryCost + d.cost()
	if d.names--; d.names == 0 {
		delete(s.ends, d.content)
		s.used -= d.cost()
		s.file.released(d.end)
	}
}

// Delivered notes that an end was heard, and returns how many the name is still owed.
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

// Forget drops a name, and returns how many ends it was owed.
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

// Names returns the names that there are.
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

// Known returns what a name that is disconnected knows.
func (s *Store) Known(of string) iter.Seq2[[2]string, bool] {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := cmp.Or(s.names[of], newName())
	return maps.All(maps.Clone(n.known))
}

// Missed returns what a name is owed, the oldest first.
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

// Bytes returns how much is kept.
func (s *Store) Bytes() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used
}

// Sync returns when all that was noted before is in the file, or has failed to be. It
// waits no longer than Patience, and not at all for a file that kept it waiting so long
// and has not come through since.
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
