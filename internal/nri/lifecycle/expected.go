// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"

	"github.com/hookline-nri/hookline/internal/nri/lifecycle/catchup"
	"github.com/hookline-nri/hookline/internal/nri/lifecycle/ledger"
)

// Expected is what a plugin that is disconnected receives when it connects.
type Expected struct {
	Pods, Containers       int     // in its Synchronize
	NewPods, NewContainers int     // those of them that it does not know
	Missed                 int     // the ends that it receives then
	Ends                   []Event // the first of them, in order
}

// Expect returns what a plugin that is disconnected would receive if it connected now, with no more
// than so many ends. It is for an operator, and changes nothing. For a plugin that is connected there
// are no ends, and for an unknown one everything is new. If the list of Recall has failed, the ends of
// objects that have gone meanwhile are not among them.
func (e *Engine) Expect(ctx context.Context, name string, ends int) (Expected, error) {
	e.mu.Lock()
	taken, l := e.newInventory(), e.names[name]
	e.mu.Unlock()
	if taken.snapshot, taken.err = e.opts.List(ctx); taken.err != nil {
		return Expected{}, taken.err
	}
	list := taken.correct()
	knows, missed := l.expects(list)
	x := Expected{Pods: len(list.Pods), Containers: len(list.Containers), Missed: len(missed)}
	for _, o := range list.Pods {
		if !knows[o.ID()] {
			x.NewPods++
		}
	}
	for _, o := range list.Containers {
		if !knows[o.ID()] {
			x.NewContainers++
		}
	}
	for _, m := range missed[:min(len(missed), ends)] {
		if m.End.Request == nil {
			m.End.Request = e.opts.Decode(m.End, m.Stored)
		}
		x.Ends = append(x.Ends, m.End)
	}
	return x, nil
}

// expects returns the objects of a list that the plugin of a lane knows, and the ends that it has
// missed. l is nil for an unknown plugin.
func (l *lane) expects(list Snapshot) (knows map[ledger.ID]bool, missed []catchup.Missed) {
	if l == nil {
		return nil, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	knows = make(map[ledger.ID]bool)
	for id := range l.ledger.All() {
		knows[id] = true
	}
	if l.session == nil || !l.session.joined {
		missed = l.record.Expected(list, l.ledger)
	}
	return knows, missed
}
