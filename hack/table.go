// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"text/tabwriter"

	"github.com/hookline-nri/hookline/internal/edit"
)

// The generated table stands between these lines of the README.
const tableStart, tableEnd = "<!-- patches -->\n", "<!-- /patches -->"

// plainTable prints the series for a terminal.
func plainTable(out io.Writer, s edit.Series) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "PATCH\tSTATUS\tRULES\tWHY")
	for _, p := range s.Patches {
		rules := strings.Join(p.Rules, ",")
		if rules == "" {
			rules = "-"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", p.Name(), p.Status, rules, why(p))
	}
	return t.Flush()
}

// markdownTable is the series as the README shows it.
func markdownTable(s edit.Series) string {
	var b strings.Builder
	b.WriteString("| Patch | Status | Rules | Why |\n|---|---|---|---|\n")
	for _, p := range s.Patches {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", p.Name(), p.Status, strings.Join(p.Rules, ", "), strings.ReplaceAll(why(p), "|", `\|`))
	}
	return b.String()
}

// inReadme puts the table where the README has the last one.
func inReadme(readme []byte, table string) ([]byte, error) {
	before, rest, ok := bytes.Cut(readme, []byte(tableStart))
	if !ok {
		return nil, errors.New("no line " + strings.TrimSpace(tableStart))
	}
	_, after, ok := bytes.Cut(rest, []byte(tableEnd))
	if !ok {
		return nil, errors.New("no line " + tableEnd)
	}
	return bytes.Join([][]byte{before, []byte(tableStart), []byte(table), []byte(tableEnd), after}, nil), nil
}

// A sentence ends where the next begins; "e.g. this" does not end one.
var sentence = regexp.MustCompile(`^(.*?[.!?])\s+[A-Z]`)

// why is the first sentence of a patch's body.
func why(p edit.Patch) string {
	paragraph, _, _ := strings.Cut(strings.TrimSpace(p.Body), "\n\n")
	line := strings.Join(strings.Fields(paragraph), " ")
	if m := sentence.FindStringSubmatch(line); m != nil {
		return m[1]
	}
	return line
}
