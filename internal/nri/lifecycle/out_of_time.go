// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// An OutOfTime error is the failure of a request whose caller has left, or had too little time for a
// plugin. It says what took the time (L28): the plugin that was asked last is often not to blame.
type OutOfTime struct {
	Err error
	// Had is the time of all plugins together. It is negative if the caller left before its
	// deadline.
	Had  time.Duration
	Uses []Use // the longest first
}

// A Use is the time that a request took at one plugin, with the wait for the plugin's earlier
// requests; or the longest time that it waited until a required plugin was connected. Validators are
// asked side by side, so their uses may be more than the time of all together.
type Use struct {
	Plugin string
	Waited bool
	Took   time.Duration
}

// The text of an OutOfTime error is short, since an event of Kubernetes has 1024 bytes at most.
const (
	namedUses  = 5
	nameLength = 63
	useLeast   = 10 * time.Millisecond
)

// Error implements error. The failure comes last: where an error becomes a gRPC status, the text of
// its class is cut off the end.
func (o *OutOfTime) Error() string { return o.Usage() + ": " + o.Err.Error() }

// Unwrap returns the failure.
func (o *OutOfTime) Unwrap() error { return o.Err }

// Usage returns the error without the failure.
func (o *OutOfTime) Usage() string {
	var parts []string
	switch {
	case o.Had < 0:
	case o.Had < useLeast:
		parts = append(parts, "no time was left for plugins")
	default:
		parts = append(parts, fmt.Sprintf("of %s for plugins", rounded(o.Had)))
	}
	others, took := 0, time.Duration(0)
	for i, u := range o.Uses {
		if i >= namedUses || u.Took < useLeast {
			others++
			took += u.Took
			continue
		}
		parts = append(parts, u.String())
	}
	if took >= useLeast {
		parts = append(parts, fmt.Sprintf("%d others took %s", others, rounded(took)))
	}
	return strings.Join(parts, ", ")
}

// String returns the use as a part of a sentence.
func (u Use) String() string {
	name := u.Plugin
	if len(name) > nameLength {
		name = strings.ToValidUTF8(name[:nameLength], "") + "…"
	}
	if u.Waited {
		name = "the wait for " + name
	}
	return fmt.Sprintf("%s took %s", name, rounded(u.Took))
}

func rounded(d time.Duration) time.Duration {
	if d < time.Second {
		return d.Round(10 * time.Millisecond)
	}
	return d.Round(100 * time.Millisecond)
}

// took notes how long the request was at a plugin since it was posted there, nothing if posted is
// zero. Few plugins take a millisecond.
func (q *question) took(l *lane, posted time.Time) {
	if posted.IsZero() {
		return
	}
	took := time.Since(posted)
	if took < time.Millisecond {
		return
	}
	for i := range q.uses {
		if u := &q.uses[i]; u.Plugin == l.name {
			u.Took += took
			return
		}
	}
	q.uses = append(q.uses, Use{Plugin: l.name, Took: took})
}

// starves reports whether a plugin has less than its timeout for a request, and those before it took
// more than it has.
func (q *question) starves(r *request) bool {
	end := r.announced()
	if !end.Before(r.due) {
		return false
	}
	var before time.Duration
	for _, u := range q.uses {
		before += u.Took
	}
	return before > end.Sub(r.sent)
}

// blame returns a failure with what took the time, if that may be its reason: the caller has left,
// or a plugin rejects that was starved.
func (q *question) blame(err error) error {
	if err == nil {
		return nil
	}
	var failed *Error
	starved := q.starved && errors.As(err, &failed) && failed.Failure == Rejection
	over := !q.deadline.IsZero() && !time.Now().Before(q.deadline) // a plugin may notice it before the context does
	if q.ctx.Err() == nil && !over && !starved {
		return err
	}
	o := &OutOfTime{Err: err, Had: -1, Uses: q.uses}
	if over || starved {
		o.Had = q.had
	}
	if d := q.creation.longestWait(); d != nil {
		o.Uses = append(o.Uses, Use{d.Plugin, true, d.waited})
	}
	slices.SortStableFunc(o.Uses, func(a, b Use) int { return cmp.Compare(b.Took, a.Took) })
	if o.Usage() == "" {
		return err
	}
	return o
}
