// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/testkit/node"
)

// WithTraces has containerd send traces.
func WithTraces(o *node.Options) { o.Traces = true }

// ReceiveTraces receives the traces of a node for as long as the test runs.
func ReceiveTraces(t *testing.T, n *node.Node) *node.Traces {
	t.Helper()
	traces, err := n.ReceiveTraces()
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, traces.Close()) })
	return traces
}

// TraceTree is the spans below one.
type TraceTree struct {
	node.Span
	below []*TraceTree
}

// Find returns the first span below, at any depth, with a name and attributes.
func (t *TraceTree) Find(name string, attributes map[string]string) *TraceTree {
	for _, b := range t.below {
		if b.Name == name && has(b.Attributes, attributes) {
			return b
		}
		if found := b.Find(name, attributes); found != nil {
			return found
		}
	}
	return nil
}

// Child is find for the spans directly below.
func (t *TraceTree) Child(name string, attributes map[string]string) *TraceTree {
	for _, b := range t.below {
		if b.Name == name && has(b.Attributes, attributes) {
			return b
		}
	}
	return nil
}

func has(all, some map[string]string) bool {
	for k, v := range some {
		if all[k] != v {
			return false
		}
	}
	return true
}

// String lists the tree, a line for each span.
func (t *TraceTree) String() string {
	var b strings.Builder
	t.write(&b, "")
	return b.String()
}

func (t *TraceTree) write(b *strings.Builder, indent string) {
	fmt.Fprintf(b, "%s%s %s %v %s\n", indent, t.Name, t.Took, t.Attributes, t.Failure)
	for _, below := range t.below {
		below.write(b, indent+"  ")
	}
}

// Trees returns the spans of calls of CRI that were received, with all below them. The
// span of a call ends last.
func Trees(traces *node.Traces, call string) (of []*TraceTree, err error) {
	spans, err := traces.Spans()
	all := map[string]*TraceTree{}
	for _, s := range spans {
		all[s.ID] = &TraceTree{Span: s}
	}
	for _, s := range spans {
		if parent := all[s.Parent]; parent != nil {
			parent.below = append(parent.below, all[s.ID])
		}
		if strings.HasSuffix(s.Name, "/"+call) {
			of = append(of, all[s.ID])
		}
	}
	return of, err
}

// RequireTree waits for the span of a call for a pod, which some attribute below it
// names.
func RequireTree(t require.TestingT, traces *node.Traces, call, pod string) (of *TraceTree) {
	RequireSoon(t, "the trace of "+call+" of "+pod, func(context.Context) error {
		all, err := Trees(traces, call)
		for _, t := range all {
			if strings.Contains(t.String(), pod) {
				of = t
				return err
			}
		}
		return errors.Join(err, fmt.Errorf("it is not among %d calls", len(all)))
	})
	return of
}
