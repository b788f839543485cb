// SPDX-License-Identifier: Apache-2.0

package report

import (
	_ "embed"
	"io"
	"strings"
	"text/template"
)

//go:embed report.md.tmpl
var markdownText string

var markdown = template.Must(template.New("report.md").Funcs(template.FuncMap{
	"cell": func(s string) string {
		return strings.NewReplacer("|", `\|`, "\n", " ", "<", "&lt;").Replace(short(s))
	},
	"join": strings.Join,
}).Parse(markdownText))

// Markdown writes the report as a page for a repository or an issue.
func (r *Report) Markdown(w io.Writer) error { return markdown.Execute(w, r) }

// short is a text of which the whole is in the JSON.
func short(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	const most = 240
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + " ..."
	}
	return s
}
