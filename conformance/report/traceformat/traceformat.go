// SPDX-License-Identifier: Apache-2.0

// Package traceformat checks traces against the definitions of their formats, in tests.
package traceformat

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/stretchr/testify/require"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
)

// RequireOTLP checks a file against OTLP's own protobuf messages. Their JSON has ids in base64, and
// OTLP has them in hex.
func RequireOTLP(t require.TestingT, text []byte) {
	inHex := regexp.MustCompile(`"(traceId|spanId|parentSpanId)":"([0-9a-f]*)"`)
	text = inHex.ReplaceAllFunc(text, func(field []byte) []byte {
		parts := inHex.FindSubmatch(field)
		id, err := hex.DecodeString(string(parts[2]))
		require.NoError(t, err)
		return fmt.Appendf(nil, `"%s":"%s"`, parts[1], base64.StdEncoding.EncodeToString(id))
	})
	var traces tracepb.TracesData
	require.NoError(t, protojson.Unmarshal(text, &traces)) // an unknown field is an error
	ids := map[string]bool{}
	var parents []string
	for _, resource := range traces.GetResourceSpans() {
		require.Equal(t, "service.name", resource.GetResource().GetAttributes()[0].GetKey())
		for _, scope := range resource.GetScopeSpans() {
			for _, span := range scope.GetSpans() {
				require.Len(t, span.GetTraceId(), 16)
				require.Len(t, span.GetSpanId(), 8)
				require.NotEmpty(t, span.GetName())
				require.LessOrEqual(t, span.GetStartTimeUnixNano(), span.GetEndTimeUnixNano())
				require.False(t, ids[string(span.GetSpanId())], "two spans have one id")
				ids[string(span.GetSpanId())] = true
				if parent := string(span.GetParentSpanId()); parent != "" {
					parents = append(parents, parent)
				}
			}
		}
	}
	for _, parent := range parents {
		require.True(t, ids[parent], "the parent does not exist")
	}
}

// RequireTraceEvents checks a file against the fields of the Trace Event Format, in its object
// form: complete events (X) and metadata (M), with times in microseconds, and no displayTimeUnit,
// by which Perfetto before 22 multiplies them. Events of a thread must not overlap: Perfetto
// cannot show both.
func RequireTraceEvents(t require.TestingT, text []byte) []map[string]any {
	var file struct {
		TraceEvents []map[string]any `json:"traceEvents"`
	}
	strict := json.NewDecoder(bytes.NewReader(text))
	strict.DisallowUnknownFields()
	require.NoError(t, strict.Decode(&file))
	named, ends, process := map[any]bool{}, map[string]float64{}, map[any]any{}
	for _, event := range file.TraceEvents {
		require.IsType(t, "", event["name"])
		for _, number := range []string{"pid", "tid", "ts"} {
			require.IsType(t, 0., event[number], "%s of %v", number, event)
		}
		if of, ok := process[event["tid"]]; ok {
			require.Equal(t, of, event["pid"], "thread %v is in two processes", event["tid"])
		}
		process[event["tid"]] = event["pid"]
		track := fmt.Sprint(event["pid"], " ", event["tid"])
		switch event["ph"] {
		case "M":
			key := map[any]string{"process_name": "name", "thread_name": "name", "process_sort_index": "sort_index"}[event["name"]]
			require.Contains(t, event["args"], key, "%v", event)
			named[track] = true
		case "X":
			require.Positive(t, event["ts"])
			require.Positive(t, event["dur"])
			require.True(t, named[track], "track %s has no name", track)
			start, took := event["ts"].(float64), event["dur"].(float64)
			require.LessOrEqual(t, ends[track], start, "%v overlaps the event before it on its track", event)
			ends[track] = start + took
		default:
			require.Fail(t, "a phase that is not used here", "%v", event)
		}
	}
	return file.TraceEvents
}
