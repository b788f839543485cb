// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"strings"

	"github.com/containerd/log"
	"go.opentelemetry.io/otel/trace"

	"github.com/containerd/containerd/v2/internal/cri/util"
	"github.com/containerd/containerd/v2/pkg/tracing"
)

// undoStack rolls back a creation of a sandbox that failed, in reverse order. A step is
// pushed once it has something to undo.
type undoStack struct {
	sandbox string // its id
	first   undoStep
	steps   []undoStep
}

// undoStep undoes one step of the creation. If it fails, all earlier steps of the creation
// are kept, because its resource may need them.
type undoStep struct {
	name string // of its span, below cri.sandbox.undo
	undo func(context.Context) error
	try  bool // if it fails, the roll-back goes on
}

// push adds a step.
func (s *undoStack) push(name string, undo func(context.Context) error) {
	s.steps = append(s.steps, undoStep{name: name, undo: undo})
}

// pushTry adds a step whose failure does not end the roll-back.
func (s *undoStack) pushTry(name string, undo func(context.Context) error) {
	s.steps = append(s.steps, undoStep{name: name, undo: undo, try: true})
}

// beginWith sets a step that runs before all others, whenever they are pushed. Its failure
// does not end the roll-back.
func (s *undoStack) beginWith(name string, undo func(context.Context) error) {
	s.first = undoStep{name: name, undo: undo, try: true}
}

// run runs the steps, and returns the error that ended the roll-back early, or nil. left is
// such an error from before: then only the first step runs. ctx, which may have ended, is for
// the log and for spans. Each step has the full time of a deferred clean-up, so a step that
// hangs takes no time from the others.
func (s *undoStack) run(ctx context.Context, left error) error {
	ctx = log.WithLogger(ctx, log.G(ctx).WithField("podsandboxid", s.sandbox))
	ctx, span := tracing.StartSpan(ctx, tracing.Name("cri", "sandbox", "undo"),
		tracing.WithNamespace(ctx),
		tracing.WithAttribute("sandbox.id", s.sandbox),
	)
	defer span.End()
	if s.first.undo != nil {
		_ = s.first.run(ctx)
	}
	for left == nil && len(s.steps) > 0 {
		last := len(s.steps) - 1
		left = s.steps[last].run(ctx)
		s.steps = s.steps[:last]
	}
	span.SetStatus(left)
	return left
}

// run runs the step. ctx is that of undoStack.run.
func (s undoStep) run(ctx context.Context) error {
	deferCtx, cancel := util.DeferContext()
	defer cancel()
	deferCtx = trace.ContextWithSpan(log.WithLogger(deferCtx, log.G(ctx)), trace.SpanFromContext(ctx))
	deferCtx, span := tracing.StartSpan(deferCtx, tracing.Name("cri", "sandbox", "undo", s.name),
		tracing.WithNamespace(deferCtx),
	)
	defer span.End()
	err := s.undo(deferCtx)
	span.SetStatus(err)
	if err != nil {
		log.G(ctx).WithError(err).Errorf("failed to %s while rolling back a sandbox", strings.ReplaceAll(s.name, "_", " "))
	}
	if s.try {
		return nil
	}
	return err
}
