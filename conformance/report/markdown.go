// SPDX-License-Identifier: Apache-2.0

package report

import (
	_ "embed"
	"io"
	"regexp"
	"strings"
	"text/template"
)

//go:embed report.md.tmpl
var markdownText string

var markdown = template.Must(template.New("report.md").Funcs(template.FuncMap{
	"cell": func(s string) string {
		return strings.NewReplacer("|", `\|`, "\n", " ", "<", "&lt;").Replace(short(s))
	},
	"join":  strings.Join,
	"shell": shell,
}).Parse(markdownText))

// Markdown writes the report as a page for a repository or an issue.
func (r *Report) Markdown(w io.Writer) error { return markdown.Execute(w, r) }

// plain is what a shell takes as it is.
var plain = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`)

// shell is a command as it is typed.
func shell(command []string) string {
	var words []string
	for _, w := range command {
		if !plain.MatchString(w) {
			w = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		words = append(words, w)
	}
	return strings.Join(words, " ")
}

// short is a text of which the whole is in the JSON.
func short(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	return Cut(s, 240)
}

// Cut is the beginning of a text, of at most so many characters.
func Cut(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + " ..."
	}
	return s
}
