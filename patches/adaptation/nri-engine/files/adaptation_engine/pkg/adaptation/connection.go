// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"context"
	"maps"
	"strconv"
	"time"

	"github.com/containerd/ttrpc"

	"github.com/hookline-nri/hookline/internal/nri/lifecycle"
)

// connection is a plugin as the lifecycle engine sees it.
type connection struct {
	*plugin
}

var _ lifecycle.Connection = connection{}

// eventOf maps the engine's kinds to the events that plugins subscribe to.
var eventOf = map[lifecycle.Kind]Event{
	lifecycle.RunPodSandbox:               Event_RUN_POD_SANDBOX,
	lifecycle.UpdatePodSandbox:            Event_UPDATE_POD_SANDBOX,
	lifecycle.PostUpdatePodSandbox:        Event_POST_UPDATE_POD_SANDBOX,
	lifecycle.StopPodSandbox:              Event_STOP_POD_SANDBOX,
	lifecycle.RemovePodSandbox:            Event_REMOVE_POD_SANDBOX,
	lifecycle.CreateContainer:             Event_CREATE_CONTAINER,
	lifecycle.ValidateContainerAdjustment: Event_VALIDATE_CONTAINER_ADJUSTMENT,
	lifecycle.PostCreateContainer:         Event_POST_CREATE_CONTAINER,
	lifecycle.StartContainer:              Event_START_CONTAINER,
	lifecycle.PostStartContainer:          Event_POST_START_CONTAINER,
	lifecycle.UpdateContainer:             Event_UPDATE_CONTAINER,
	lifecycle.PostUpdateContainer:         Event_POST_UPDATE_CONTAINER,
	lifecycle.StopContainer:               Event_STOP_CONTAINER,
	lifecycle.RemoveContainer:             Event_REMOVE_CONTAINER,
}

func (c connection) Name() string  { return c.name() }
func (c connection) Index() string { return c.idx }

func (c connection) Subscribed(kind lifecycle.Kind) bool {
	event, ok := eventOf[kind]
	return ok && c.plugin.events.IsSet(event)
}

// Policy is the failure policy that the plugin registered. A builtin plugin is
// never dropped, since it would not reconnect.
func (c connection) Policy() lifecycle.Policy {
	return lifecycle.Policy{
		FailRequest:   c.policy.GetFailRequest(),
		KeepConnected: c.policy.GetKeepConnected(),
		Permanent:     c.impl.isBuiltin(),
	}
}

// Closed is nil, and so never closed, for plugins without a connection.
func (c connection) Closed() <-chan struct{} { return c.closeC }

func (c connection) Close() { c.close() }

// Deliver relays an event on a goroutine of its own: the plugin may be slow, and so
// may its connection.
func (c connection) Deliver(ctx context.Context, ev lifecycle.Event, due time.Time, answer func(any, error)) {
	go func() {
		answer(c.relayWithin(ctx, ev, due))
	}()
}

func (c connection) relayWithin(ctx context.Context, ev lifecycle.Event, due time.Time) (any, error) {
	ctx = withShare(ctx)
	if c.impl.isTtrpc() {
		return c.relay(announced{ctx, due}, ev)
	}
	ctx, cancel := context.WithDeadline(ctx, due)
	defer cancel()
	return c.relay(ctx, ev)
}

// announced is a context with a deadline at which it does not end. The plugin
// receives the deadline. Deliver waits for its answer longer than that, since the
// plugin receives nothing else until it has answered.
type announced struct {
	context.Context
	due time.Time
}

// Deadline implements context.Context.
func (a announced) Deadline() (time.Time, bool) { return a.due, true }

// timeShare is the key of the metadata of a request that has the plugin's share of the
// caller's time, in milliseconds.
const timeShare = "nri-time-share"

// withShare sends the plugin its share of the caller's time, and no share if it has none. The
// caller may have received one for a request of its own.
func withShare(ctx context.Context) context.Context {
	share := lifecycle.Share(ctx)
	callers, _ := ttrpc.GetMetadata(ctx)
	if _, has := callers.Get(timeShare); share == 0 && !has {
		return ctx
	}
	md := ttrpc.MD{}
	maps.Copy(md, callers)
	delete(md, timeShare)
	if share > 0 {
		md.Set(timeShare, strconv.FormatInt(max(1, share.Milliseconds()), 10))
	}
	return ttrpc.WithMetadata(ctx, md)
}
