// SPDX-License-Identifier: Apache-2.0

package missed

// names is how many names are kept: more than a node has plugins, and few enough for one
// that comes back under another name each time to cost little.
const names = 64

// entryCost is about what maps and lists take for a name, for an end, for what a name is
// owed, and for what it knows, beside names, ids and requests.
const entryCost = 192

func (e *end) cost() int {
	return entryCost + len(e.request) + len(e.kind) + len(e.object[0]) + len(e.object[1])
}

func knownCost(object [2]string) int { return entryCost + len(object[0]) + len(object[1]) }

// charge counts what a name alone takes.
func (s *Store) charge(n *name, bytes int) {
	n.bytes += bytes
	s.used += bytes
}

// makeRoom returns whether a name that comes can be kept, and forgets another one if that
// is what it takes: one that holds nothing, or for a reserved name one that is not.
func (s *Store) makeRoom(newcomer string) bool {
	if len(s.names) < names {
		return true
	}
	of := s.longestDisconnected(func(_ string, n *name) bool { return !n.holds() })
	if of == "" && s.opts.Reserved(newcomer) {
		of = s.longestDisconnected(func(of string, _ *name) bool { return !s.opts.Reserved(of) })
	}
	if of == "" {
		return false
	}
	s.drop(of, "limit")
	return true
}

// holds tells whether something is lost to a name that is dropped.
func (n *name) holds() bool { return n.missed.Len()+len(n.known) > 0 }

// longestDisconnected returns which of some names is disconnected for longest, empty if none is.
func (s *Store) longestDisconnected(among func(of string, n *name) bool) (longest string) {
	for of, n := range s.names {
		if n.left.IsZero() || !among(of, n) {
			continue
		}
		if longest == "" || n.left.Before(s.names[longest].left) {
			longest = of
		}
	}
	return longest
}

// fit has the name that takes most give up its oldest end, or be forgotten if it is owed
// none, until what is kept is within the budget. Reserved names are the last to.
func (s *Store) fit() {
	for s.used > s.opts.Bytes {
		of := s.heaviest()
		n := s.names[of]
		switch {
		case n == nil:
			return
		case n.missed.Len() == 0:
			s.drop(of, "limit")
		default:
			s.discard(of, n, n.missed.Front().Value.(due))
		}
	}
}

// heaviest returns which name takes most, empty if none has anything to give up.
func (s *Store) heaviest() (heaviest string) {
	for of, n := range s.names {
		if n.missed.Len() == 0 && n.left.IsZero() {
			continue
		}
		if heaviest == "" || s.dropsBefore(of, heaviest) {
			heaviest = of
		}
	}
	return heaviest
}

func (s *Store) dropsBefore(of, other string) bool {
	if is := s.opts.Reserved(of); is != s.opts.Reserved(other) {
		return !is
	}
	return s.names[of].bytes > s.names[other].bytes
}

// discard drops an end that will not be told, and forgets that its object is known: nothing
// is to be made of that later.
func (s *Store) discard(of string, n *name, d due) {
	s.settle(of, n, d)
	if _, known := n.known[d.object]; known {
		s.unknow(n, d.object)
		s.file.add(unknownOf(of, d.object))
	}
	s.opts.Dropped(of, "limit", 1)
}

// sweep forgets names that are disconnected for too long.
func (s *Store) sweep() {
	now := s.opts.Now()
	for of, n := range s.names {
		if !n.left.IsZero() && now.Sub(n.counted) > s.opts.TTL {
			s.drop(of, "age")
		}
	}
}
