// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"fmt"
	"go/ast"
	"regexp"
	"strings"
)

const client = "github.com/prometheus/client_golang/prometheus"

var clientConstructor = regexp.MustCompile(`^New(Counter|Gauge|Histogram|Summary)(Vec|Func)?$`)

// ofClient reports whether a call is of Prometheus' own package, or of promauto.
func ofClient(s source, c call) bool {
	return isName(c.on, s.imported(client)) || isName(c.on, s.imported(client+"/promauto"))
}

// clientMetric reads the declaration of a metric through Prometheus' own package,
// or promauto, if the call is one.
func clientMetric(s source, c call) (m metric, ok bool, err error) {
	if !ofClient(s, c) {
		return m, false, nil
	}
	if c.method == "NewDesc" {
		m, err = described(s, c)
		return m, true, err
	}
	is := clientConstructor.FindStringSubmatch(c.method)
	if is == nil {
		return m, false, nil
	}
	m.kind = strings.ToLower(is[1])
	if err := m.options(c.args[0]); err != nil {
		return m, true, err
	}
	if is[2] == "Vec" {
		m.labels, err = stringList(c.args[1])
	}
	return m, true, err
}

// described reads prometheus.NewDesc.
func described(s source, c call) (m metric, err error) {
	own, err := stringsOf(c.args[:2])
	if err != nil {
		return m, err
	}
	m.name, m.help = own[0], own[1]
	if m.labels, err = stringList(c.args[2]); err != nil {
		return m, err
	}
	m.kind, err = constKind(s, c.to)
	return m, err
}

// options reads a literal such as prometheus.CounterOpts.
func (m *metric) options(e ast.Expr) error {
	literal, ok := e.(*ast.CompositeLit)
	if !ok {
		return fmt.Errorf("the options of a %s are not a literal: write them out", m.kind)
	}
	fields := map[string]string{}
	for _, element := range literal.Elts {
		pair, ok := element.(*ast.KeyValueExpr)
		if !ok {
			return fmt.Errorf("the options of a %s have no names: write them out", m.kind)
		}
		switch name := lastName(pair.Key); name {
		case "Namespace", "Subsystem", "Name", "Help":
			value, err := stringOf(pair.Value)
			if err != nil {
				return err
			}
			fields[name] = value
		}
	}
	m.name = joined(fields["Namespace"], fields["Subsystem"], fields["Name"])
	m.help = fields["Help"]
	return nil
}

// stringList reads a []string, or nil.
func stringList(e ast.Expr) ([]string, error) {
	if isName(e, "nil") {
		return nil, nil
	}
	literal, ok := e.(*ast.CompositeLit)
	if !ok {
		return nil, fmt.Errorf("the labels of a metric are not a literal: write them out")
	}
	return stringsOf(literal.Elts)
}

// constKind returns the type of a metric whose description is declared apart from its values: that of
// the prometheus.MustNewConstMetric with the description.
func constKind(s source, desc string) (string, error) {
	for _, d := range s.file.Decls {
		for _, c := range calls(d) {
			if isName(c.on, s.imported(client)) && c.method == "MustNewConstMetric" && lastName(c.args[0]) == desc {
				return strings.ToLower(strings.TrimSuffix(lastName(c.args[1]), "Value")), nil
			}
		}
	}
	return "", fmt.Errorf("no prometheus.MustNewConstMetric of this file has the type of %q", desc)
}
