// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"cmp"

	"google.golang.org/protobuf/proto"

	"github.com/hookline-nri/hookline/internal/nri/lifecycle"
)

// newEngine returns the engine that delivers all events. It keeps order and waits
// per plugin. No lock of the adaptation is held while a plugin is called.
func (r *Adaptation) newEngine() *lifecycle.Engine {
	return lifecycle.New(lifecycle.Options{
		RequestTimeout: getPluginRequestTimeout,
		SyncTimeout:    getPluginSyncTimeout,
		ListTimeout:    getListTimeout,
		TeardownWait:   getPluginTeardownWait,
		BacklogLimit:   cmp.Or(r.backlog, DefaultBacklogLimit),
		BacklogBytes:   cmp.Or(r.backlogBytes, DefaultBacklogBytes),
		OverdueLimit:   cmp.Or(r.overdueLimit, DefaultOverdueLimit),
		Weigh:          weigh,
		OmitCreating:   r.omitNew,
		Waits:          waits,
		List:           r.list,
		ImpliedEnd:     impliedEnd,
		Unheard:        r.unheard,
		Observer:       observer{r},
	})
}

// weigh returns how many bytes it takes to keep an event.
func weigh(ev lifecycle.Event) int { return proto.Size(wire(ev)) }

// wire is the message that a plugin receives for an event.
func wire(ev lifecycle.Event) proto.Message {
	switch req := ev.Request.(type) {
	case *newContainer:
		return req.request
	case *changedContainer:
		return req.request
	case proto.Message:
		return req
	}
	return nil
}
