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

// plain matches a word that a shell needs no quotes for.
var plain = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`)

// shell is a command as typed in a shell.
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

// short is the beginning of a text. The JSON has the whole.
func short(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	return Cut(s, 240)
}

// Cut returns the beginning of a text, at most so many characters.
func Cut(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + " ..."
	}
	return s
}
