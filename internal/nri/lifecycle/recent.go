// SPDX-License-Identifier: Apache-2.0

package lifecycle

import "time"

// A recent keeps the last time of some event for each plugin, by index and name. Engine.mu
// guards it.
type recent map[string]time.Time

// names is how many names a recent keeps. Plugins can use any number of names (L22).
const names = 1024

// note sets the time of a name to now. If there are too many names, the one with the oldest time
// is forgotten.
func (r recent) note(name string) {
	if _, known := r[name]; !known && len(r) >= names {
		oldest := ""
		for n, at := range r {
			if oldest == "" || at.Before(r[oldest]) {
				oldest = n
			}
		}
		delete(r, oldest)
	}
	r[name] = time.Now()
}
