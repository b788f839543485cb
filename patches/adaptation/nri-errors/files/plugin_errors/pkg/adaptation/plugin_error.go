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

// PluginError says which plugin failed a request of the runtime, in which
// event and why. Its gRPC code is one of these:
//
//   - DeadlineExceeded if the plugin did not answer in time,
//   - Unavailable if its connection was lost, or it was not asked because it owes
//     an answer to another request,
//   - that of the plugin's answer, other than Unknown,
//   - FailedPrecondition if the plugin rejected without one.
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

// unanswered says whether the plugin did not answer, rather than reject.
func (e *PluginError) unanswered() bool {
	return errors.Is(e.Err, ttrpc.ErrClosed) || errors.Is(e.Err, context.DeadlineExceeded)
}

// ask asks the plugins for what each of them may reject. All its errors have
// gRPC codes.
func (r *Adaptation) ask(ctx context.Context, ev lifecycle.Event, each func(lifecycle.Connection, any) error) error {
	return failureOf(ev, r.engine.Ask(ctx, ev, each))
}

// failureOf gives an error of the engine its code.
func failureOf(ev lifecycle.Event, err error) error {
	if err == nil {
		return nil
	}
	var failed *lifecycle.Error
	if errors.As(err, &failed) {
		return &PluginError{Plugin: failed.Conn.Name(), Event: ev.Kind.String(), Err: lossOf(failed)}
	}
	// The caller gave up, or there would be no time left to undo what it asked for.
	for _, gone := range []error{context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, gone) {
			return codedError{err, status.FromContextError(gone).Code()}
		}
	}
	// Plugins that contradict each other, or an object that is stopped already.
	return codedError{err, codes.FailedPrecondition}
}

// codedError is an error with a code of its own, whatever codes it wraps.
type codedError struct {
	error
	code codes.Code
}

func (e codedError) Unwrap() error { return e.error }

// GRPCStatus returns the error with its code.
func (e codedError) GRPCStatus() *status.Status { return status.New(e.code, e.Error()) }
