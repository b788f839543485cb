// SPDX-License-Identifier: Apache-2.0

package missed

// names is how many names are kept: more than a node has plugins, and few enough that a
// plugin that reconnects under a new name each time costs little.
const names = 64

// entryCost is roughly the size of a map or list entry: of a name, an end, a missed event or
// a known object. Names, ids and requests come on top.
const entryCost = 192

func (e *end) cost() int {
	return entryCost + len(e.request) + len(e.kind) + len(e.object[0]) + len(e.object[1])
}

func knownCost(object [2]string) int { return entryCost + len(object[0]) + len(object[1]) }

// charge counts bytes that a name takes by itself.
func (s *Store) charge(n *name, bytes int) {
	n.bytes += bytes
	s.used += bytes
}

// makeRoom reports whether a new name can be kept. If there is no room, it forgets a name that
// holds nothing or, for a reserved name, one that is not reserved.
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

// holds reports whether dropping the name loses anything.
func (n *name) holds() bool { return n.missed.Len()+len(n.known) > 0 }

// longestDisconnected returns the name, among those selected, that has been disconnected for
// longest. It is empty if none is disconnected.
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

// fit drops the oldest end of the largest name, or the name itself if it has missed none,
// until the store is within its budget. Reserved names come last.
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

// heaviest returns the name to drop from first, empty if nothing can be dropped.
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

// discard drops an end that will not be delivered. It also forgets that the name knows the
// object, so that no end is made up for it later.
func (s *Store) discard(of string, n *name, d due) {
	s.settle(of, n, d)
	if _, known := n.known[d.object]; known {
		s.unknow(n, d.object)
		s.file.add(unknownOf(of, d.object))
	}
	s.opts.Dropped(of, "limit", 1)
}

// sweep forgets names that have been disconnected for too long.
func (s *Store) sweep() {
	now := s.opts.Now()
	for of, n := range s.names {
		if !n.left.IsZero() && now.Sub(n.counted) > s.opts.TTL {
			s.drop(of, "age")
		}
	}
}
