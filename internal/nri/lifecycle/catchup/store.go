// SPDX-License-Identifier: Apache-2.0

package catchup

import (
	"iter"
	"time"

	"github.com/hookline-nri/hookline/internal/nri/lifecycle/ledger"
)

// A Store keeps what must outlive a connection and the runtime: the names of the plugins,
// the objects that disconnected plugins know, and the ends that they have missed (L18).
// The implementation decides where it stores them.
//
// Only Sync may block: the other methods are called with a lock held. Names, Known and Missed
// return what was recorded, in the same order: at once in this run of the runtime, and in the
// next one if it was synced.
//
// A name is the index and name of a plugin, a kind is the name that NRI has for an end, and an
// object is the ids of a pod and of a container, the latter empty for the pod itself.
type Store interface {
	// Joined records that a plugin of the name is synchronized, and which kinds of ends
	// it wants. It drops the objects that Left recorded.
	Joined(name string, wants []string)

	// Left records that the name is disconnected from now on, and the objects that it knows,
	// each with whether it has received the object's Stop.
	Left(name string, known iter.Seq2[[2]string, bool])

	// Miss records an end that the name has missed, once. It returns false if the name was
	// forgotten.
	Miss(name, kind string, object [2]string, request string) bool

	// Delivered records that a missed end was delivered, and returns how many are left.
	Delivered(name, kind string, object [2]string) (left int)

	// Forget drops a name, and returns how many missed ends it had.
	Forget(name string) (dropped int)

	// Names returns the names, with the kinds that they want, and when each disconnected:
	// zero if it was connected according to the last record of this or an earlier runtime.
	Names() iter.Seq2[string, Presence]

	// Known returns the objects that a disconnected name knows, as Left recorded them.
	Known(name string) iter.Seq2[[2]string, bool]

	// Missed returns the ends that a name has missed, the oldest first.
	Missed(name string) iter.Seq[Due]

	// Sync returns when all that was recorded before is safe, or cannot be made safe. It must
	// not wait longer than a pod may wait.
	Sync()
}

// A Presence is what the store has about a name.
type Presence = struct {
	Wants        []string
	Disconnected time.Time
	Missed       int
}

// A Due is a missed end as it is stored.
type Due = struct {
	Kind    string
	Object  [2]string
	Request string
}

// eventOf returns the event of a stored end.
func eventOf(d Due) ledger.Event {
	return ledger.Event{Kind: ledger.KindOf(d.Kind), Pod: d.Object[0], Container: d.Object[1]}
}

// nameOf returns an object as it is stored.
func nameOf(id ledger.ID) [2]string { return [2]string{id.Pod, id.Container} }
