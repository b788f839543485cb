// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"context"
	"errors"
	"fmt"

	"github.com/containerd/ttrpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hookline-nri/hookline/internal/nri/lifecycle"
)

// PluginError is the error of a request that a plugin failed, with the plugin, the
// event and the reason. Its gRPC code is one of these:
//
//   - DeadlineExceeded if the plugin did not answer in time,
//   - Unavailable if its connection was lost, or if it was not asked because it is
//     overdue with another request,
//   - the code of the plugin's answer, other than Unknown,
//   - FailedPrecondition if that answer has no code.
type PluginError struct {
	Plugin string // index and name, as "10-logger"
	Event  string // as "RunPodSandbox"
	Err    error
}

// Error implements error.
func (e *PluginError) Error() string {
	if e.unanswered() {
		return fmt.Sprintf("plugin %s failed to handle %s request: %v", e.Plugin, e.Event, e.Err)
	}
	reason := e.Err.Error()
	if answer, ok := e.Err.(interface{ GRPCStatus() *status.Status }); ok {
		reason = answer.GRPCStatus().Message() // without the code, which is in that of e
	}
	return fmt.Sprintf("plugin %s rejected %s: %s", e.Plugin, e.Event, reason)
}

// Unwrap returns what went wrong.
func (e *PluginError) Unwrap() error { return e.Err }

// GRPCStatus returns the error with its code.
func (e *PluginError) GRPCStatus() *status.Status { return status.New(e.code(), e.Error()) }

func (e *PluginError) code() codes.Code {
	switch {
	case errors.As(e.Err, new(*lifecycle.Overdue)):
		return codes.Unavailable
	case errors.Is(e.Err, context.DeadlineExceeded):
		return codes.DeadlineExceeded
	case e.unanswered():
		return codes.Unavailable
	}
	if code := status.Code(e.Err); code != codes.Unknown {
		return code
	}
	return codes.FailedPrecondition
}

// unanswered reports whether the plugin did not answer, rather than reject.
func (e *PluginError) unanswered() bool {
	return errors.Is(e.Err, ttrpc.ErrClosed) || errors.Is(e.Err, context.DeadlineExceeded)
}

// ask sends the plugins a request that each of them may reject. All its errors have
// gRPC codes.
func (r *Adaptation) ask(ctx context.Context, ev lifecycle.Event, each func(lifecycle.Connection, any) error) error {
	return failureOf(ev, r.engine.Ask(ctx, ev, each))
}

// failureOf gives an error of the engine its code.
func failureOf(ev lifecycle.Event, err error) error {
	if err == nil {
		return nil
	}
	var late *lifecycle.OutOfTime
	if errors.As(err, &late) {
		failure := failureOf(ev, late.Err)
		return codedError{fmt.Errorf("%s: %w", late.Usage(), failure), status.Code(failure)}
	}
	var failed *lifecycle.Error
	if errors.As(err, &failed) {
		return &PluginError{Plugin: failed.Conn.Name(), Event: ev.Kind.String(), Err: lossOf(failed)}
	}
	// The caller canceled, or too little time is left to roll the creation back.
	for _, gone := range []error{context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, gone) {
			return codedError{err, status.FromContextError(gone).Code()}
		}
	}
	// Plugins contradict each other, or the object is stopped already.
	return codedError{err, codes.FailedPrecondition}
}

// codedError is an error with a code of its own, which replaces the codes that it wraps.
type codedError struct {
	error
	code codes.Code
}

func (e codedError) Unwrap() error { return e.error }

// GRPCStatus returns the error with its code.
func (e codedError) GRPCStatus() *status.Status { return status.New(e.code, e.Error()) }
