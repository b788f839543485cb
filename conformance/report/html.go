// SPDX-License-Identifier: Apache-2.0

package report

import (
	_ "embed"
	"html/template"
	"io"
	"regexp"
	"strings"
)

//go:embed report.html.tmpl
var pageText string

var word = regexp.MustCompile(`[A-Z]*[^A-Z]+|[A-Z]+`)

var page = template.Must(template.New("report.html").Funcs(template.FuncMap{
	"join":  strings.Join,
	"shell": shell,
	// words splits a case's name where a narrow page may break the line.
	"words": func(name string) []string { return word.FindAllString(name, -1) },
	"rounded": func(e Event) string {
		if e.End == nil {
			return "not answered"
		}
		return rounded(e.End.Sub(e.Start))
	},
}).Parse(pageText))

// HTML writes the report as one file, which loads no other.
func (r *Report) HTML(w io.Writer) error { return page.Execute(w, r) }
