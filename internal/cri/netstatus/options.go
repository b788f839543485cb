// SPDX-License-Identifier: Apache-2.0

package netstatus

import (
	"cmp"
	"time"
)

// Options are the times of a Monitor. Zero values stand for the defaults.
type Options struct {
	// Interval is the age from which on Status runs STATUS again. Default 5 s.
	Interval time.Duration
	// Timeout is for each network's STATUS. Default 5 s.
	Timeout time.Duration
	// FirstWait is how long after the first call of Status callers wait for the first
	// answer. Default until the first STATUS has answered or timed out, but a minute at
	// most; they do not wait if it is negative.
	FirstWait time.Duration
	// MaxBackoff is what the interval grows to, doubled with each timeout that
	// follows another. Default 1 min, and at least Interval.
	MaxBackoff time.Duration
	// Observer gets each answer. Default none.
	Observer Observer
}

const (
	// settle is how long after its timeout a STATUS has answered that it timed out:
	// the plugin's processes are killed first.
	settle = time.Second
	// longestFirstWait bounds FirstWait by default. Callers give up soon after that.
	longestFirstWait = time.Minute
)

// An Observer gets the answers of networks. It is called by one goroutine at a time,
// with no lock held, and may delay the next round, but no caller.
type Observer interface {
	// Answered is called for each network of a round. Since is not set.
	Answered(Status)
	// Moved is called once each time that the answer for the configuration has another
	// state than before, or another network, plugin or code. before is Unknown at first.
	Moved(before, now Status)
}

func (o Options) withDefaults() Options {
	for _, d := range []struct {
		value *time.Duration
		other time.Duration
	}{
		{&o.Interval, 5 * time.Second},
		{&o.Timeout, 5 * time.Second},
		{&o.MaxBackoff, time.Minute},
	} {
		if *d.value == 0 {
			*d.value = d.other
		}
	}
	o.FirstWait = cmp.Or(o.FirstWait, min(o.Timeout+settle, longestFirstWait))
	o.MaxBackoff = max(o.MaxBackoff, o.Interval)
	if o.Observer == nil {
		o.Observer = unobserved{}
	}
	return o
}

type unobserved struct{}

func (unobserved) Answered(Status)      {}
func (unobserved) Moved(Status, Status) {}
