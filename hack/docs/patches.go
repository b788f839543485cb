// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"regexp"
	"strings"

	"github.com/hookline-nri/hookline/internal/edit"
)

// PatchTable returns the table of the page of patches.
func PatchTable(s edit.Series) string { return patchContent(s).text }

func patchContent(s edit.Series) (c content) {
	var b strings.Builder
	b.WriteString(line("patch", "status", "rules", "why") + "|---|---|---|---|\n")
	for _, p := range s.Patches {
		key := code(p.Name())
		b.WriteString(line(key, string(p.Status), strings.Join(p.Rules, ", "), Why(p)))
		c.rows = append(c.rows, row{key: key, about: "patch " + p.Name()})
	}
	c.text = b.String()
	return c
}

// code formats a name as code.
func code(name string) string { return "`" + name + "`" }

// A sentence ends where the next begins; "e.g. this" does not end one.
var sentence = regexp.MustCompile(`^(.*?[.!?])\s+[A-Z]`)

// Why returns the first sentence of a patch's body.
func Why(p edit.Patch) string {
	paragraph, _, _ := strings.Cut(strings.TrimSpace(p.Body), "\n\n")
	line := strings.Join(strings.Fields(paragraph), " ")
	if m := sentence.FindStringSubmatch(line); m != nil {
		return m[1]
	}
	return line
}
