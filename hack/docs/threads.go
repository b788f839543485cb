// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hookline-nri/hookline/internal/edit"
)

// A Thread is an upstream change, or an issue that will bring changes, to code that patches of the
// series change.
type Thread struct {
	Name    string   // "containerd/nri#286"
	Title   string   // what it changes
	Seen    string   // the part of it that was read, and its date
	Patches []string // those that it meets, by name
	Then    string   // what happens to these when it is merged
}

// CheckThreads returns an error for each thread with a missing field, and for each patch of one that
// the series does not have.
func CheckThreads(s edit.Series, threads []Thread) (errs []error) {
	all := names(s)
	for _, t := range threads {
		if slices.Contains([]string{t.Name, t.Title, t.Seen, t.Then}, "") || len(t.Patches) == 0 {
			errs = append(errs, fmt.Errorf("thread %q: say what it changes, which part was seen, which patches it meets and what happens to them", t.Name))
		}
		for _, p := range t.Patches {
			if !slices.Contains(all, p) {
				errs = append(errs, fmt.Errorf("thread %s: patch %s is not in the series: look again at what happens to it", t.Name, p))
			}
		}
	}
	return errs
}

// threadContent has a line for each thread.
func threadContent(s edit.Series, threads []Thread) content {
	var b strings.Builder
	c := content{problems: CheckThreads(s, threads)}
	b.WriteString(line("thread", "what it changes", "seen", "meets", "what happens to ours") + "|---|---|---|---|---|\n")
	for _, t := range threads {
		var meets []string
		for _, p := range t.Patches {
			meets = append(meets, code(p))
		}
		b.WriteString(line(t.Name, t.Title, t.Seen, strings.Join(meets, ", "), t.Then))
		c.rows = append(c.rows, row{key: t.Name, about: "thread " + t.Name})
	}
	c.text = b.String()
	return c
}
