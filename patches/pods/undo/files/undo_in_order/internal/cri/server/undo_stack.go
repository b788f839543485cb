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

// undoStack takes back what the creation of a sandbox has made, if it fails: what
// was made last comes first. A step is pushed when there is something for it to take
// back.
type undoStack struct {
	sandbox string // its id
	first   undoStep
	steps   []undoStep
}

// undoStep takes one thing back. What it takes back may need all that was made
// before it, so if it fails, that is kept.
type undoStep struct {
	name string // of its span, below cri.sandbox.undo
	undo func(context.Context) error
	try  bool // keeps nothing if it fails
}

// push adds a step.
func (s *undoStack) push(name string, undo func(context.Context) error) {
	s.steps = append(s.steps, undoStep{name: name, undo: undo})
}

// pushTry adds a step that keeps nothing if it fails.
func (s *undoStack) pushTry(name string, undo func(context.Context) error) {
	s.steps = append(s.steps, undoStep{name: name, undo: undo, try: true})
}

// beginWith sets a step that comes before all others, whenever they are pushed. It
// keeps nothing if it fails.
func (s *undoStack) beginWith(name string, undo func(context.Context) error) {
	s.first = undoStep{name: name, undo: undo, try: true}
}

// run takes the steps and returns why there is something left, or nil. left is why
// there is before it began. ctx, which may be dead, is for the log and for spans: each
// step has the time of a deferred clean-up from when it begins, so that one that
// hangs takes that of no other.
func (s *undoStack) run(ctx context.Context, left error) error {
	ctx = log.WithLogger(ctx, log.G(ctx).WithField("podsandboxid", s.sandbox))
	ctx, span := tracing.StartSpan(ctx, tracing.Name("cri", "sandbox", "undo"),
		tracing.WithNamespace(ctx),
		tracing.WithAttribute("sandbox.id", s.sandbox),
	)
	defer span.End()
	if s.first.undo != nil {
		_ = s.first.take(ctx)
	}
	for left == nil && len(s.steps) > 0 {
		last := len(s.steps) - 1
		left = s.steps[last].take(ctx)
		s.steps = s.steps[:last]
	}
	span.SetStatus(left)
	return left
}

// take takes the step. ctx is that of run.
func (s undoStep) take(ctx context.Context) error {
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
