// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"sync/atomic"
	"time"
)

// slowADD is how long an ADD takes at most while the network is well.
const slowADD = time.Second

// networkPace tells whether pods get on their network soon. While they do not, each one
// whose creation goes on meanwhile would hold a shim and an init process.
type networkPace struct {
	failed atomic.Bool  // the last ADD has
	slow   atomic.Int64 // ADDs that have run for slowADD
}

func (p *networkPace) isWell() bool { return !p.failed.Load() && p.slow.Load() == 0 }

// watch notes how an ADD that begins now goes, until it is told of its end. One whose caller
// gave up says nothing of the network.
func (p *networkPace) watch(ctx context.Context) (end func(error)) {
	late := time.AfterFunc(slowADD, func() { p.slow.Add(1) })
	return func(err error) {
		if !late.Stop() {
			p.slow.Add(-1)
		}
		if ctx.Err() == nil {
			p.failed.Store(err != nil)
		}
	}
}
