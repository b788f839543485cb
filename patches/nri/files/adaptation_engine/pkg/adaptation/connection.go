// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"context"
	"errors"
	"fmt"

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

// Closed is nil, and so never closed, for plugins without a connection.
func (c connection) Closed() <-chan struct{} { return c.closeC }

func (c connection) Close() { c.close() }

// Deliver relays an event in the form that its request has. It is left to a
// builtin plugin to return when ctx ends, since nothing can make it.
func (c connection) Deliver(ctx context.Context, ev lifecycle.Event) (any, error) {
	switch req := ev.Request.(type) {
	case *RunPodSandboxRequest:
		return c.runPodSandbox(ctx, req)
	case *UpdatePodSandboxRequest:
		return c.updatePodSandbox(ctx, req)
	case *PostUpdatePodSandboxRequest:
		return c.postUpdatePodSandbox(ctx, req)
	case *StopPodSandboxRequest:
		return c.stopPodSandbox(ctx, req)
	case *RemovePodSandboxRequest:
		return c.removePodSandbox(ctx, req)
	case *creation:
		req.consult(c.plugin)
		return c.createContainer(ctx, req.request)
	case *ValidateContainerAdjustmentRequest:
		return nil, c.ValidateContainerAdjustment(ctx, req)
	case *PostCreateContainerRequest:
		return c.postCreateContainer(ctx, req)
	case *StartContainerRequest:
		return c.startContainer(ctx, req)
	case *PostStartContainerRequest:
		return c.postStartContainer(ctx, req)
	case *UpdateContainerRequest:
		return c.updateContainer(ctx, req)
	case *PostUpdateContainerRequest:
		return c.postUpdateContainer(ctx, req)
	case *StopContainerRequest:
		return c.stopContainer(ctx, req)
	case *RemoveContainerRequest:
		return c.removeContainer(ctx, req)
	}
	return nil, fmt.Errorf("%s: no plugin is sent a %T", ev, ev.Request)
}

// Failed applies the failure policy. A plugin that closed before its turn is
// not there any more, which fails nothing. A validator fails the request
// whatever goes wrong.
func (c connection) Failed(ev lifecycle.Event, err error) (fail error, drop bool) {
	if err == lifecycle.ErrClosed {
		return nil, false
	}
	if errors.Is(err, lifecycle.ErrClosed) && !isFatalError(err) {
		err = fmt.Errorf("%w: %w", ttrpc.ErrClosed, err)
	}
	drop = c.dropsPlugin(err)
	if ev.Kind == lifecycle.ValidateContainerAdjustment {
		return err, drop
	}
	return c.handleRequestError(context.Background(), eventOf[ev.Kind], err), drop
}
