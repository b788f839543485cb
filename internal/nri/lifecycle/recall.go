// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"github.com/hookline-nri/hookline/internal/nri/lifecycle/catchup"
)

// Recall makes lanes for the plugins of the last runtime, after a restart. The runtime must call
// it once, before any connection joins and before it submits any end. A plugin that was
// connected when the last runtime ended knows what the runtime lists now, without the objects
// whose ends are stored for it, and the objects whose creation was interrupted, see
// Options.Cut. An object that a plugin knows and that the runtime does not list has ended
// meanwhile.
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
		there, err = Snapshot{}, fmt.Errorf("the pods that plugins knew before the restart cannot be listed: %w", err)
	}
	all := e.records.Recall(names, there, err == nil, e.cut())
	e.records.Store.Sync()
	for _, one := range all {
		one.Record.Safe()
		e.recall(one)
	}
	return err
}

// cut returns the objects whose creation was interrupted, by the plugins that received them.
func (e *Engine) cut() map[string][]Object {
	all := make(map[string][]Object)
	if e.opts.Cut != nil {
		for name, o := range e.opts.Cut() {
			all[name] = append(all[name], o)
		}
	}
	return all
}

// recall makes the lane of a plugin that has been disconnected since before this runtime.
func (e *Engine) recall(one catchup.Recalled) {
	index, _, _ := strings.Cut(one.Name, "-")
	e.mu.Lock()
	defer e.mu.Unlock()
	l := e.newLane(one.Name, index)
	l.own, l.record, l.ledger = true, one.Record, one.Ledger
	e.names[one.Name] = l
}
