// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
)

// requireOTLP holds a file against OTLP's own protobuf messages. They have ids in base64 in
// JSON, and OTLP has them in hex.
func requireOTLP(t *testing.T, text []byte) {
	t.Helper()
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
				require.False(t, ids[string(span.GetSpanId())], "two spans of one id")
				ids[string(span.GetSpanId())] = true
				if parent := string(span.GetParentSpanId()); parent != "" {
					parents = append(parents, parent)
				}
			}
		}
	}
	for _, parent := range parents {
		require.True(t, ids[parent], "a parent that is not there")
	}
}

// requireTraceEvents holds a file against the fields of the Trace Event Format, in its form
// as an object: complete events (X) and metadata (M), with times in microseconds.
func requireTraceEvents(t *testing.T, text []byte) []map[string]any {
	t.Helper()
	var file struct {
		TraceEvents     []map[string]any `json:"traceEvents"`
		DisplayTimeUnit string           `json:"displayTimeUnit"`
	}
	strict := json.NewDecoder(bytes.NewReader(text))
	strict.DisallowUnknownFields()
	require.NoError(t, strict.Decode(&file))
	require.Contains(t, []string{"ms", "ns"}, file.DisplayTimeUnit)
	named := map[any]bool{}
	for _, event := range file.TraceEvents {
		require.IsType(t, "", event["name"])
		for _, number := range []string{"pid", "tid", "ts"} {
			require.IsType(t, 0., event[number], "%s of %v", number, event)
		}
		track := fmt.Sprint(event["pid"], " ", event["tid"])
		switch event["ph"] {
		case "M":
			require.Contains(t, []any{"process_name", "thread_name"}, event["name"])
			require.NotEmpty(t, event["args"].(map[string]any)["name"])
			named[track] = true
		case "X":
			require.Positive(t, event["ts"])
			require.Positive(t, event["dur"])
			require.True(t, named[track], "track %s has no name", track)
		default:
			require.Fail(t, "a phase that is not used here", "%v", event)
		}
	}
	return file.TraceEvents
}

// Timelines of a whole run, where the variable names the folder of its reports.
func TestTimelinesOfARun(t *testing.T) {
	folder := os.Getenv("HOOKLINE_TIMELINES")
	if folder == "" {
		t.Skip("HOOKLINE_TIMELINES is not set to a folder of reports with timelines")
	}
	for name, check := range map[string]func(*testing.T, []byte){
		"traces.otlp.json":   requireOTLP,
		"traces.chrome.json": func(t *testing.T, text []byte) { require.NotEmpty(t, requireTraceEvents(t, text)) },
	} {
		text, err := os.ReadFile(filepath.Join(folder, name))
		require.NoError(t, err)
		check(t, text)
	}
}
