// SPDX-License-Identifier: Apache-2.0

package report

import (
	_ "embed"
	"html/template"
	"io"
	"strings"
)

//go:embed report.html.tmpl
var pageText string

var page = template.Must(template.New("report.html").Funcs(template.FuncMap{
	"join": strings.Join,
	"rounded": func(e Event) string {
		if e.End == nil {
			return "not answered"
		}
		return rounded(e.End.Sub(e.Start))
	},
}).Parse(pageText))

// HTML writes the report as one file, which asks for nothing else.
func (r *Report) HTML(w io.Writer) error { return page.Execute(w, r) }
