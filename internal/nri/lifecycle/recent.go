// SPDX-License-Identifier: Apache-2.0

package lifecycle

import "time"

// A recent keeps when something last happened to a plugin, by index and name. Engine.mu
// guards it.
type recent map[string]time.Time

// names is how many names a recent keeps: there are as many as plugins care to make up (L22).
const names = 1024

// note notes that it happens to a plugin now. Of too many names the one to which it happened
// first is forgotten.
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
