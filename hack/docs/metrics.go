// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"errors"
	"fmt"
	"go/ast"
	"maps"
	"strings"
)

// A metric is declared by Go code.
type metric struct {
	name   string
	kind   string // counter, gauge, histogram or summary
	help   string
	labels []string
	file   string // module and path
}

// metricContent has a line for each metric that the patches add.
func metricContent(modules []Module) (content, error) {
	added, err := addedMetrics(modules)
	if err != nil {
		return content{}, err
	}
	return metricTable(added), nil
}

// addedMetrics returns the metrics that the patches add.
func addedMetrics(modules []Module) (added []metric, err error) {
	base, tip, err := touched(modules)
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, s := range base {
		declared, _ := metricsOf(s) // errors in upstream's metrics do not count
		for _, m := range declared {
			known[m.name] = true
		}
	}
	for _, s := range tip {
		declared, err := metricsOf(s)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
		for _, m := range declared {
			if !known[m.name] {
				added = append(added, m)
			}
		}
	}
	return added, nil
}

func metricTable(added []metric) (c content) {
	if len(added) == 0 {
		c.text = "None.\n"
		return c
	}
	var b strings.Builder
	b.WriteString(line("metric", "type", "labels", "meaning") + "|---|---|---|---|\n")
	for _, m := range added {
		key, about := code(m.name), "metric "+m.name+" of "+m.file
		b.WriteString(line(key, m.kind, strings.Join(m.labels, ", "), m.help))
		c.rows = append(c.rows, row{key: key, about: about})
		if m.help == "" {
			c.problems = append(c.problems, fmt.Errorf("%s: it has no help text", about))
		}
	}
	c.text = b.String()
	return c
}

// metricsOf returns the metrics that a file declares, in its order. The error names those that cannot
// be read; the others are returned with it.
func metricsOf(s source) ([]metric, error) {
	var all []metric
	var errs []error
	add := func(m metric, err error) {
		if err != nil {
			errs = append(errs, err)
			return
		}
		m.file = s.name
		all = append(all, m)
	}
	ofFile := namespaces{}
	for _, d := range s.file.Decls {
		if _, is := d.(*ast.GenDecl); is {
			ofFile.learn(s, calls(d)...)
		}
	}
	for _, d := range s.file.Decls {
		calls := calls(d)
		names := maps.Clone(ofFile)
		names.learn(s, calls...)
		for _, c := range calls {
			if m, ok, err := names.goMetric(s, c); ok {
				add(m, err)
			}
			if m, ok, err := clientMetric(s, c); ok {
				add(m, err)
			}
		}
	}
	return all, errors.Join(errs...)
}
