// SPDX-License-Identifier: Apache-2.0

package history

import "time"

// Life is a pod or container by its id, with when its creation was through
// and when its end was first asked for, zero if it was not.
type Life struct {
	ID         string
	Begin, End time.Time
}

// Missed lists those lives that the connection was not told of, though it was
// there for a part of them (L2). gone is when the connection was closed, zero
// if that is not known: then it counts as there up to its last event.
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
		both := l.Begin // when both were there
		if r.synced.After(both) {
			both = r.synced
		}
		if both.Before(gone) && (l.End.IsZero() || both.Before(l.End)) {
			missed = append(missed, l.ID)
		}
	}
	return missed
}
