// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"fmt"
	"strings"
)

// A table is a generated table of a page.
type table struct {
	page string // path below the root of the repository
	name string // of the lines around it
	make func() (content, error)
}

// A content is a table as it should be.
type content struct {
	text     string
	rows     []row
	problems []error // texts that only a person can write
}

// A row is a line of a table.
type row struct {
	key   string // its first cell
	about string // its subject, with its place in the code
}

// line returns a line of a table.
func line(cells ...string) string {
	var b strings.Builder
	for _, c := range cells {
		b.WriteString("| ")
		if c != "" {
			b.WriteString(strings.ReplaceAll(c, "|", `\|`) + " ")
		}
	}
	return b.String() + "|\n"
}

// cells returns the cells of a line, or none if it is not of a table.
func cells(line string) []string {
	line, ok := strings.CutPrefix(strings.TrimSpace(line), "|")
	if !ok {
		return nil
	}
	const bar = "\x00" // stands for an escaped one
	line = strings.TrimSuffix(strings.ReplaceAll(line, `\|`, bar), "|")
	all := strings.Split(line, "|")
	for i, c := range all {
		all[i] = strings.ReplaceAll(strings.TrimSpace(c), bar, "|")
	}
	return all
}

// linesByKey returns the lines of a table by their first cells.
func linesByKey(text string) map[string]string {
	lines := map[string]string{}
	for l := range strings.Lines(text) {
		if c := cells(l); len(c) > 0 {
			lines[c[0]] = l
		}
	}
	return lines
}

// drift returns an error for each difference of the table in the page.
func (t table) drift(was string, is content) []error {
	if was == is.text {
		return nil
	}
	var errs []error
	lines := linesByKey(was)
	for _, r := range is.rows {
		if _, ok := lines[r.key]; !ok {
			errs = append(errs, fmt.Errorf("%s: no line for %s: run check --update", t.page, r.about))
		}
	}
	if errs == nil {
		errs = append(errs, fmt.Errorf("%s: the table of %s differs from the code%s: run check --update", t.page, t.name, first(was, is.text)))
	}
	return errs
}

// first names the first line that differs.
func first(was, is string) string {
	old := map[string]bool{}
	for l := range strings.Lines(was) {
		old[l] = true
	}
	for l := range strings.Lines(is) {
		if c := cells(l); !old[l] && len(c) > 0 {
			return ", see " + c[0]
		}
	}
	return ""
}

// A block is one of the tables of a page, with the text around it.
type block struct{ before, table, after string }

// cut finds the table of that name in a page.
func cut(page, name string) (block, error) {
	opening, closing := "<!-- "+name+" -->\n", "<!-- /"+name+" -->\n"
	before, rest, ok := strings.Cut(page, opening)
	if !ok {
		return block{}, fmt.Errorf("no line %s", strings.TrimSpace(opening))
	}
	table, after, ok := strings.Cut(rest, closing)
	if !ok {
		return block{}, fmt.Errorf("no line %s", strings.TrimSpace(closing))
	}
	return block{before + opening, table, closing + after}, nil
}
