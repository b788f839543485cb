// SPDX-License-Identifier: Apache-2.0

package catchup

import (
	"iter"
	"time"

	"github.com/hookline-nri/hookline/internal/nri/lifecycle/ledger"
)

// A Store keeps what has to outlive a connection, and the runtime: which plugins there
// are, what those know that are disconnected, and the ends that they have
// not heard (L18). Where it does is its own business.
//
// Nothing but Sync may block: the others are called with a lock held. What is
// noted comes back from Names, Known and Missed in the same order, at once in this
// run of the runtime, and in the next one if it was synced.
//
// A name is the index and name of a plugin, a kind is that of an end as NRI calls
// it, and an object is the ids of a pod and of a container, the latter empty for
// the pod itself.
type Store interface {
	// Joined notes that a plugin of the name is synchronized, and which kinds of ends
	// it wants. From here on nothing is known of what it knows.
	Joined(name string, wants []string)

	// Left notes that the name is disconnected since now, and what it knows: the objects,
	// each with whether it was told that it has stopped.
	Left(name string, known iter.Seq2[[2]string, bool])

	// Miss notes an end that the name has not heard, once. It returns false if the name
	// was forgotten.
	Miss(name, kind string, object [2]string, request string) bool

	// Delivered notes that an end was heard, and returns how many the name is still owed.
	Delivered(name, kind string, object [2]string) (left int)

	// Forget drops a name, and returns how many ends it was owed.
	Forget(name string) (dropped int)

	// Names returns the names, with the kinds they want, and since when each is disconnected:
	// zero for one that was connected when this or an earlier runtime last knew.
	Names() iter.Seq2[string, Presence]

	// Known returns what a name that is disconnected knows, as Left has it.
	Known(name string) iter.Seq2[[2]string, bool]

	// Missed returns what a name is owed, the oldest first.
	Missed(name string) iter.Seq[Due]

	// Sync returns when all that was noted before is safe, or cannot be made so: it
	// waits no longer than a pod may.
	Sync()
}

// A Presence says whether a name is there.
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

// eventOf returns the event of an end that is stored.
func eventOf(d Due) ledger.Event {
	return ledger.Event{Kind: ledger.KindOf(d.Kind), Pod: d.Object[0], Container: d.Object[1]}
}

// nameOf is how an object is stored.
func nameOf(id ledger.ID) [2]string { return [2]string{id.Pod, id.Container} }
