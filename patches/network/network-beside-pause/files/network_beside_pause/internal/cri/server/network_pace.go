// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"sync/atomic"
)

// networkPace bounds what pods hold that wait for their network, which may be slow or down.
type networkPace struct {
	failed atomic.Bool  // the last ADD has
	beside atomic.Int64 // ADDs beside which a pause container is created
}

// enter tells whether one more pause container may be created beside its ADD, of as many as
// the most. It has to leave when that has ended.
func (p *networkPace) enter(most uint32) bool {
	if p.failed.Load() {
		return false
	}
	if p.beside.Add(1) > int64(most) {
		p.leave()
		return false
	}
	return true
}

func (p *networkPace) leave() { p.beside.Add(-1) }

// ended notes how an ADD ended. One whose caller gave up says nothing of the network.
func (p *networkPace) ended(ctx context.Context, err error) {
	if ctx.Err() == nil {
		p.failed.Store(err != nil)
	}
}
