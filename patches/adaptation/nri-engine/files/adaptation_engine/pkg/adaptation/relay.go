// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/containerd/ttrpc"

	"github.com/hookline-nri/hookline/internal/nri/lifecycle"
)

// relay sends an event to the plugin, and returns the plugin's reply. The engine handles
// timeouts, and decides whether the plugin stays connected. An end that is too large for a
// message is sent with ids alone, since the plugin must receive it.
func (c connection) relay(ctx context.Context, ev lifecycle.Event) (any, error) {
	reply, err := c.send(ctx, ev)
	var tooLarge *ttrpc.OversizedMessageErr
	if !c.impl.isTtrpc() || !errors.As(err, &tooLarge) {
		return reply, err
	}
	bare := endRequest(ev, &PodSandbox{Id: ev.Pod}, nil)
	if bare == nil {
		return reply, err
	}
	ev.Request = bare
	return c.send(ctx, ev)
}

func (c connection) send(ctx context.Context, ev lifecycle.Event) (any, error) {
	switch req := ev.Request.(type) {
	case *RunPodSandboxRequest:
		return call(ctx, c, ev, c.impl.RunPodSandbox, req)
	case *UpdatePodSandboxRequest:
		return call(ctx, c, ev, c.impl.UpdatePodSandbox, req)
	case *PostUpdatePodSandboxRequest:
		return call(ctx, c, ev, c.impl.PostUpdatePodSandbox, req)
	case *StopPodSandboxRequest:
		return call(ctx, c, ev, c.impl.StopPodSandbox, req)
	case *RemovePodSandboxRequest:
		return call(ctx, c, ev, c.impl.RemovePodSandbox, req)
	case *newContainer:
		if !ev.Late {
			req.consult(c.plugin)
		}
		return call(ctx, c, ev, c.impl.CreateContainer, req.request)
	case *ValidateContainerAdjustmentRequest:
		return c.validate(ctx, ev, req)
	case *PostCreateContainerRequest:
		return call(ctx, c, ev, c.impl.PostCreateContainer, req)
	case *StartContainerRequest:
		return call(ctx, c, ev, c.impl.StartContainer, req)
	case *PostStartContainerRequest:
		return call(ctx, c, ev, c.impl.PostStartContainer, req)
	case *changedContainer:
		return call(ctx, c, ev, c.impl.UpdateContainer, req.request)
	case *PostUpdateContainerRequest:
		return call(ctx, c, ev, c.impl.PostUpdateContainer, req)
	case *StopContainerRequest:
		return call(ctx, c, ev, c.impl.StopContainer, req)
	case *RemoveContainerRequest:
		return call(ctx, c, ev, c.impl.RemoveContainer, req)
	}
	return nil, fmt.Errorf("%s: no plugin receives a %T", ev, ev.Request)
}

// call sends one request, and records its metrics.
func call[Q, R any](ctx context.Context, c connection, ev lifecycle.Event, send func(context.Context, Q) (R, error), req Q) (any, error) {
	event := eventOf[ev.Kind]
	start := time.Now()
	reply, err := send(ctx, req)
	c.recordInvocation(event.PrettyName(), start, err)
	if err != nil {
		return nil, c.broken(err)
	}
	c.warnDeprecatedEvent(ctx, event)
	switch r := any(reply).(type) {
	case *CreateContainerResponse:
		c.recordAdjustments(event.PrettyName(), r.GetAdjust(), len(r.GetUpdate()), len(r.GetEvict()))
		takePlace(c.plugin, ev, r.GetUpdate())
	case *UpdateContainerResponse:
		c.recordAdjustments(event.PrettyName(), nil, len(r.GetUpdate()), len(r.GetEvict()))
		takePlace(c.plugin, ev, r.GetUpdate())
	case *StopContainerResponse:
		c.recordAdjustments(event.PrettyName(), nil, len(r.GetUpdate()), 0)
	}
	return reply, nil
}

// takePlace takes the place of a reply that asks for updates of other containers, if its request waits for it.
func takePlace(p *plugin, ev lifecycle.Event, updates []*ContainerUpdate) {
	type waits interface {
		take(of *plugin, asked string, updates []*ContainerUpdate)
	}
	others := ofOthers(updates, ev.Container)
	if request, is := ev.Request.(waits); is && !ev.Late && len(others) > 0 {
		request.take(p, ev.String(), others)
	}
}

// validate asks whether the plugin accepts the adjustments of the others.
func (c connection) validate(ctx context.Context, ev lifecycle.Event, req *ValidateContainerAdjustmentRequest) (any, error) {
	event := eventOf[ev.Kind]
	start := time.Now()
	reply, err := c.impl.ValidateContainerAdjustment(ctx, req)
	c.recordInvocation(event.PrettyName(), start, err)
	if err != nil {
		return nil, fmt.Errorf("validator plugin %s failed: %w", c.name(), c.broken(err))
	}
	return nil, reply.ValidationResult(c.name())
}

// lossOf is the error of a plugin that did not answer. If the connection was lost, it
// is always an error of ttrpc, also if the engine noticed the loss first.
func lossOf(failed *lifecycle.Error) error {
	if failed.Failure == lifecycle.Loss && !errors.Is(failed.Err, ttrpc.ErrClosed) {
		return fmt.Errorf("%w: %w", ttrpc.ErrClosed, failed.Err)
	}
	return failed.Err
}

// broken marks an error after which the connection is of no use, since the engine knows
// nothing of ttrpc.
func (c connection) broken(err error) error {
	lost := errors.Is(err, ttrpc.ErrClosed) || errors.Is(err, ttrpc.ErrServerClosed) || errors.Is(err, ttrpc.ErrProtocol)
	if lost || c.impl.isTtrpc() && endsConnection(err) {
		return fmt.Errorf("%w: %w", lifecycle.ErrClosed, err)
	}
	return err
}

// endsConnection reports whether a connection ended in the middle of a message, or with a
// write that took too long. These are not errors of ttrpc. From a plugin without a connection
// they are its answer.
func endsConnection(err error) bool {
	var transport *net.OpError
	return errors.As(err, &transport) || errors.Is(err, io.ErrUnexpectedEOF)
}
