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
	// answer. Default: until the first STATUS has answered or timed out, but at most a
	// minute. If it is negative, they do not wait.
	FirstWait time.Duration
	// MaxBackoff is the longest interval: each timeout in a row doubles it. Default 1 min,
	// and at least Interval.
	MaxBackoff time.Duration
	// Observer gets each answer. Default none.
	Observer Observer
}

const (
	// settle is how long after its timeout a STATUS is reported as timed out: the plugin's
	// processes are killed first.
	settle = time.Second
	// longestFirstWait bounds the default of FirstWait. Callers time out soon after that.
	longestFirstWait = time.Minute
)

// An Observer gets the answers of networks. It is called by one goroutine at a time,
// with no lock held, and may delay the next round, but no caller.
type Observer interface {
	// Answered is called for each network of a round. Since is not set.
	Answered(Status)
	// Moved is called each time that the answer for the configuration changes its state,
	// network, plugin or code. before is Unknown at first.
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
