// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"

	"github.com/hookline-nri/hookline/internal/nri/lifecycle/catchup"
	"github.com/hookline-nri/hookline/internal/nri/lifecycle/ledger"
)

// Expected is what a plugin that is disconnected receives when it connects.
type Expected struct {
	List Snapshot // its Synchronize, as the runtime lists now
	New  []Object // the pods and containers in List that it does not know
	Ends []Event  // then the ends that it has missed, in order
}

// Expect returns what a plugin that is disconnected would receive if it connected now. It is for an
// operator, and changes nothing. For a plugin that is connected or unknown, there are no ends, and
// for an unknown one everything is new.
func (e *Engine) Expect(ctx context.Context, name string) (Expected, error) {
	list, err := e.opts.List(ctx)
	if err != nil {
		return Expected{}, err
	}
	x := Expected{List: list}
	e.mu.Lock()
	l := e.names[name]
	e.mu.Unlock()
	knows, missed := func(ledger.ID) bool { return false }, []catchup.Missed(nil)
	if l != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		knows = l.ledger.Knows
		if l.session == nil {
			missed = l.record.Expected(list, l.ledger)
		}
	}
	for _, objects := range [][]Object{list.Pods, list.Containers} {
		for _, o := range objects {
			if !knows(o.ID()) {
				x.New = append(x.New, o)
			}
		}
	}
	for _, m := range missed {
		if m.End.Request == nil {
			m.End.Request = e.opts.Decode(m.End, m.Stored)
		}
		x.Ends = append(x.Ends, m.End)
	}
	return x, nil
}
