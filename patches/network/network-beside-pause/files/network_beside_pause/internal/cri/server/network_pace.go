// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"sync/atomic"
)

// networkPace bounds the shims and processes of pods that wait for a slow or failing network.
type networkPace struct {
	failed atomic.Bool  // the last ADD failed
	beside atomic.Int64 // ADDs beside which a pause container is created
}

// enter reports whether one more pause container may be created beside its ADD, up to most of
// them. If so, the caller must call leave when the ADD has ended.
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

// ended notes whether an ADD failed. An ADD that its caller canceled does not count.
func (p *networkPace) ended(ctx context.Context, err error) {
	if ctx.Err() == nil {
		p.failed.Store(err != nil)
	}
}
