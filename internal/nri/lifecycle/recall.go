// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"github.com/hookline-nri/hookline/internal/nri/lifecycle/catchup"
)

// Recall brings back, after a restart, the plugins that were there before. It is to be
// called once, before a connection joins and before the runtime ends anything. What
// those know that were connected to the end is what the runtime lists now, but for
// what has ended as far as they are concerned: what they have missed; and what was cut in
// its creation, see Options.Cut. What a plugin knows
// and the runtime no longer has ended while nobody was there to tell.
func (e *Engine) Recall(ctx context.Context) error {
	if e.records == nil {
		return nil
	}
	names := maps.Collect(e.records.Store.Names())
	if len(names) == 0 {
		return nil
	}
	there, err := e.opts.List(ctx)
	if err != nil {
		there, err = Snapshot{}, fmt.Errorf("what the plugins know that were connected before is not known: %w", err)
	}
	all := e.records.Recall(names, there, err == nil, e.cut())
	e.records.Store.Sync()
	for _, one := range all {
		one.Record.Safe()
		e.recall(one)
	}
	return err
}

// cut returns what the runtime was killed in creating, by the names that were told of it.
func (e *Engine) cut() map[string][]Object {
	all := make(map[string][]Object)
	if e.opts.Cut != nil {
		for name, o := range e.opts.Cut() {
			all[name] = append(all[name], o)
		}
	}
	return all
}

// recall makes the lane of a plugin that is disconnected since before this runtime.
func (e *Engine) recall(one catchup.Recalled) {
	index, _, _ := strings.Cut(one.Name, "-")
	e.mu.Lock()
	defer e.mu.Unlock()
	l := e.newLane(one.Name, index)
	l.own, l.record, l.ledger = true, one.Record, one.Ledger
	e.names[one.Name] = l
}
