// SPDX-License-Identifier: Apache-2.0

package history

import "time"

// Life is a pod or container by its id, with the time when its creation was complete, and the time
// when its stop or removal was first requested, zero if it was not.
type Life struct {
	ID         string
	Begin, End time.Time
}

// Missed lists the lives that the connection received nothing of, although it was open during a part
// of them (L2). gone is when the connection was closed, zero if that is not known: then it counts as
// open until its last event.
func (r *Reading) Missed(lives []Life, gone time.Time) []string {
	if r.synced.IsZero() {
		return nil
	}
	if gone.IsZero() {
		gone = r.last
	}
	var missed []string
	for _, l := range lives {
		if r.pods[l.ID] != nil || r.containers[l.ID] != nil {
			continue
		}
		both := l.Begin // when both existed
		if r.synced.After(both) {
			both = r.synced
		}
		if both.Before(gone) && (l.End.IsZero() || both.Before(l.End)) {
			missed = append(missed, l.ID)
		}
	}
	return missed
}
