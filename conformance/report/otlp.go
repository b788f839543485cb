// SPDX-License-Identifier: Apache-2.0

package report

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// OTLP writes all timelines as OTLP's JSON, one trace for each case. The report has the trace's id,
// and the calls of CRI carried it to the runtime: if the runtime traces, its spans are in the same
// trace.
func (r *Report) OTLP(w io.Writer) error {
	traces := ptrace.NewTraces()
	for _, c := range r.Cases {
		var id pcommon.TraceID
		if n, err := hex.Decode(id[:], []byte(c.Trace)); err != nil || n != len(id) {
			continue // it did not run
		}
		c.spans(traces, id)
	}
	text, err := new(ptrace.JSONMarshaler).MarshalTraces(traces)
	if err != nil {
		return fmt.Errorf("write OTLP: %w", err)
	}
	_, err = w.Write(text)
	return err
}

// spans adds a resource for each track, as Jaeger shows each service in a color of its own.
func (c Case) spans(traces ptrace.Traces, trace pcommon.TraceID) {
	t := c.Timeline()
	root := spanID(c.Trace, "case", 0)
	add := func(service string) ptrace.SpanSlice {
		resource := traces.ResourceSpans().AppendEmpty()
		resource.Resource().Attributes().PutStr("service.name", service)
		return resource.ScopeSpans().AppendEmpty().Spans()
	}
	whole := add("nri-conformance").AppendEmpty()
	whole.SetTraceID(trace)
	whole.SetSpanID(root)
	whole.SetName(c.Name)
	whole.Attributes().PutStr("verdict", string(c.Verdict))
	between(whole, t.Start, t.End)
	for i, track := range t.Tracks {
		spans := add(track.Name)
		for j, s := range track.Spans {
			span := spans.AppendEmpty()
			span.SetTraceID(trace)
			span.SetSpanID(spanID(c.Trace, track.Name, i<<16|j))
			if s.ID != "" {
				var id pcommon.SpanID
				if n, err := hex.Decode(id[:], []byte(s.ID)); err == nil && n == len(id) {
					span.SetSpanID(id)
				}
			}
			span.SetParentSpanID(root)
			span.SetName(s.Name)
			span.SetKind(ptrace.SpanKindServer)
			if !s.Plugin {
				span.SetKind(ptrace.SpanKindClient)
			}
			span.Attributes().PutStr("of", s.Of)
			between(span, s.Start, s.End)
			if s.Hangs {
				span.Status().SetCode(ptrace.StatusCodeError)
				span.Status().SetMessage("not answered in time")
			}
			if s.Error != "" {
				span.Status().SetCode(ptrace.StatusCodeError)
				span.Status().SetMessage(s.Error)
			}
		}
	}
}

func between(s ptrace.Span, start, end time.Time) {
	s.SetStartTimestamp(pcommon.NewTimestampFromTime(start))
	s.SetEndTimestamp(pcommon.NewTimestampFromTime(end))
}

// spanID is the same each time that a report is written.
func spanID(trace, track string, number int) (id pcommon.SpanID) {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%s/%d", trace, track, number))
	copy(id[:], sum[:])
	return id
}
