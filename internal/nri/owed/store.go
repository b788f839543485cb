// SPDX-License-Identifier: Apache-2.0

package owed

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"
)

// The bounds of what is kept, where Options names none.
const (
	DefaultTTL   = 24 * time.Hour
	DefaultCount = 10000    // ends of one name
	DefaultBytes = 16 << 20 // of one name
)

// Options are the settings of a Store. The zero value of each but Path is its default.
type Options struct {
	// Path is the file. Empty keeps everything in memory alone.
	Path string

	// TTL is how long a name may be away before it is forgotten.
	TTL time.Duration
	// Count and Bytes are how much a name may be owed.
	Count, Bytes int

	// Patience is how long Sync waits for the file at most. Default 2 s.
	Patience time.Duration

	// Now is the clock. Default time.Now.
	Now func() time.Time

	// Noted is told of each end that a name is owed. Dropped is told of ends that will not
	// be told, with why: "age", "limit" or "forgotten". Failed is told of what goes wrong
	// with the file. All must be quick, and must not call the store.
	Noted   func(name, kind string)
	Dropped func(name, reason string, ends int)
	Failed  func(error)
}

// names is how many names are kept: more than a node has plugins, and few enough for one
// that comes back under another name each time to cost little.
const names = 64

// Presence and Due are those of NRI's engine. They are aliases of structs without a
// name, for the store to be what the engine takes though it cannot import it.

// A Presence says whether a name is there, which kinds of ends it wants, and how many
// it is owed. Away is since when it is, zero if it is connected.
type Presence = struct {
	Wants []string
	Away  time.Time
	Owed  int
}

// A Due is an end that is owed.
type Due = struct {
	Kind    string
	Object  [2]string
	Request []byte
	Since   time.Time
}

// A Store keeps what plugins are owed. Its methods may be called from any goroutine,
// and none but Sync and Close waits for the file.
type Store struct {
	opts Options

	mu    sync.Mutex // guards what follows, and is not held while the file is written
	names map[string]*name
	last  uint64 // number of the last end that was owed
	file  writer
}

// A name is all that is kept of one.
type name struct {
	wants []string
	away  time.Time
	known map[[2]string]bool
	owed  []*end // in order
	index map[key]*end
	bytes int
}

type key struct {
	kind   string
	object [2]string
}

type end struct {
	key
	number  uint64
	since   time.Time
	request []byte
}

func (e *end) size() int { return len(e.request) + len(e.kind) + len(e.object[0]) + len(e.object[1]) }

func newName() *name {
	return &name{known: make(map[[2]string]bool), index: make(map[key]*end)}
}

// Joined notes that a plugin of the name is connected, and which kinds of ends it wants.
func (s *Store) Joined(of string, wants []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.names[of]
	if n == nil {
		s.makeRoom()
		n = newName()
		s.names[of] = n
	}
	n.wants, n.away = wants, time.Time{}
	clear(n.known)
	s.file.presence(of, n)
	s.file.forgetKnown(of)
}

// makeRoom forgets the name that is away for longest if there are too many.
func (s *Store) makeRoom() {
	if len(s.names) < names {
		return
	}
	longest := ""
	for of, n := range s.names {
		if !n.away.IsZero() && (longest == "" || n.away.Before(s.names[longest].away)) {
			longest = of
		}
	}
	if longest != "" {
		s.drop(longest, "limit")
	}
}

// Left notes that the name is away, and what it knows: each object with whether it was
// told that it has stopped.
func (s *Store) Left(of string, known iter.Seq2[[2]string, bool]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.names[of]
	if n == nil {
		return
	}
	n.away = s.opts.Now()
	clear(n.known)
	s.file.presence(of, n)
	s.file.forgetKnown(of)
	for object, stopped := range known {
		n.known[object] = stopped
		s.file.known(of, object, stopped)
	}
}

// Owe notes an end that the name has not heard, once. It returns false if there is no such
// name.
func (s *Store) Owe(of, kind string, object [2]string, request []byte) bool {
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
	s.last++
	e := &end{key: k, number: s.last, since: s.opts.Now(), request: request}
	n.owed = append(n.owed, e)
	n.index[k] = e
	n.bytes += e.size()
	s.file.owed(of, e)
	s.opts.Noted(of, kind)
	for len(n.owed) > 1 && (len(n.owed) > s.opts.Count || n.bytes > s.opts.Bytes) {
		s.giveUp(of, n, n.owed[0], "limit")
	}
	return true
}

// giveUp drops an end that will not be told, and forgets that its object is known: nothing
// is to be made of that later.
func (s *Store) giveUp(of string, n *name, e *end, reason string) {
	s.settle(of, n, e)
	if _, known := n.known[e.object]; known {
		delete(n.known, e.object)
		s.file.unknown(of, e.object)
	}
	s.opts.Dropped(of, reason, 1)
}

// settle takes out an end that is owed no more.
func (s *Store) settle(of string, n *name, e *end) {
	delete(n.index, e.key)
	if i := slices.Index(n.owed, e); i >= 0 {
		n.owed = slices.Delete(n.owed, i, i+1)
	}
	n.bytes -= e.size()
	s.file.paid(of, e)
}

// Paid notes that an end was heard, and returns how many the name is still owed.
func (s *Store) Paid(of, kind string, object [2]string) (left int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.names[of]
	if n == nil {
		return 0
	}
	if e := n.index[key{kind, object}]; e != nil {
		s.settle(of, n, e)
	}
	return len(n.owed)
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
	delete(s.names, of)
	s.file.forget(of)
	if len(n.owed) > 0 {
		s.opts.Dropped(of, reason, len(n.owed))
	}
	return len(n.owed)
}

// Names returns the names that there are.
func (s *Store) Names() iter.Seq2[string, Presence] {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep()
	all := make(map[string]Presence, len(s.names))
	for of, n := range s.names {
		all[of] = Presence{n.wants, n.away, len(n.owed)}
	}
	return maps.All(all)
}

// Known returns what a name that is away knows.
func (s *Store) Known(of string) iter.Seq2[[2]string, bool] {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := cmp.Or(s.names[of], newName())
	return maps.All(maps.Clone(n.known))
}

// Owes returns what a name is owed, the oldest first.
func (s *Store) Owes(of string) iter.Seq[Due] {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep()
	n := cmp.Or(s.names[of], newName())
	all := make([]Due, 0, len(n.owed))
	for _, e := range n.owed {
		all = append(all, Due{e.kind, e.object, e.request, e.since})
	}
	return slices.Values(all)
}

// sweep forgets names that are away for too long, and what the others are owed for
// too long.
func (s *Store) sweep() {
	before := s.opts.Now().Add(-s.opts.TTL)
	for of, n := range s.names {
		if !n.away.IsZero() && n.away.Before(before) {
			s.drop(of, "age")
			continue
		}
		for len(n.owed) > 0 && n.owed[0].since.Before(before) {
			s.giveUp(of, n, n.owed[0], "age")
		}
	}
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
