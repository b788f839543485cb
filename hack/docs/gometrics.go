// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"fmt"
	"go/ast"
	"strings"
)

const goMetrics = "github.com/docker/go-metrics"

// constructors are the methods of a namespace of docker/go-metrics that declare a metric: the type of
// the metric, the suffix of its name, and the index of the argument that is its first label.
var constructors = map[string]struct {
	kind, suffix string
	unit         bool // the third argument is a suffix of its name
	labels       int
}{
	"NewCounter":                 {kind: "counter", suffix: "_total"},
	"NewLabeledCounter":          {kind: "counter", suffix: "_total", labels: 2},
	"NewTimer":                   {kind: "histogram", suffix: "_seconds"},
	"NewTimerWithBuckets":        {kind: "histogram", suffix: "_seconds"},
	"NewLabeledTimer":            {kind: "histogram", suffix: "_seconds", labels: 2},
	"NewLabeledTimerWithBuckets": {kind: "histogram", suffix: "_seconds", labels: 3},
	"NewGauge":                   {kind: "gauge", unit: true},
	"NewLabeledGauge":            {kind: "gauge", unit: true, labels: 3},
	"NewDesc":                    {unit: true, labels: 3},
}

// namespaces are variables that hold a namespace of docker/go-metrics, with the prefix that it gives
// to names.
type namespaces map[string]string

// learn notes the variables that get a new namespace.
func (n namespaces) learn(s source, calls ...call) {
	for _, c := range calls {
		if !isName(c.on, s.imported(goMetrics)) || c.method != "NewNamespace" || len(c.args) != 3 {
			continue
		}
		if parts, err := stringsOf(c.args[:2]); err == nil {
			n[c.to] = joined(parts...)
		}
	}
}

// goMetric reads the declaration of a metric through a namespace, if the call is one.
func (n namespaces) goMetric(s source, call call) (m metric, ok bool, err error) {
	c, ok := constructors[call.method]
	if !ok || s.imported(goMetrics) == "" || ofClient(s, call) {
		return m, false, nil
	}
	args := call.args
	prefix, known := n[lastName(call.on)]
	if !known {
		return m, true, fmt.Errorf("%s of a namespace that is made elsewhere: make it in the same function, with its names written out", call.method)
	}
	own, err := stringsOf(args[:2])
	if err != nil {
		return m, true, err
	}
	m = metric{name: joined(prefix, own[0]) + c.suffix, kind: c.kind, help: own[1]}
	if c.unit {
		if u := unit(args[2]); u != "" {
			m.name += "_" + u
		}
	}
	if c.labels > 0 {
		if m.labels, err = stringsOf(args[c.labels:]); err != nil {
			return m, true, err
		}
	}
	if m.kind == "" {
		m.kind, err = constKind(s, call.to)
	}
	return m, true, err
}

// unit returns the suffix of a unit: a constant such as metrics.Bytes, or a string.
func unit(e ast.Expr) string {
	if t, err := stringOf(e); err == nil {
		return t
	}
	return strings.ToLower(lastName(e))
}

// joined returns the name of a metric from parts that may be empty.
func joined(parts ...string) string {
	var all []string
	for _, p := range parts {
		if p != "" {
			all = append(all, p)
		}
	}
	return strings.Join(all, "_")
}
