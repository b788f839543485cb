// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hookline-nri/hookline/internal/edit"
)

// groupContent has a line for each pull request: its subject, its needs and its size. Each has a page
// with its text, which is written by hand.
func groupContent(r Repository, p Pages) (c content) {
	var b strings.Builder
	b.WriteString(line("pull request", "of", "needs", "patches", "files", "lines", "of tests", "tests") + "|---|---|---|---|---|---|---|---|\n")
	for _, g := range r.Series.Groups {
		size := r.Sizes[g.Name()]
		hold := ""
		if slices.ContainsFunc(g.Patches, func(p edit.Patch) bool { return p.Status == edit.Hold }) {
			hold = " (on hold)"
		}
		var needs []string
		for _, before := range r.Series.Needs(g) {
			needs = append(needs, code(before.Name()))
		}
		key := linked(p.Groups, g)
		b.WriteString(line(key, g.Module()+hold, strings.Join(needs, ", "), fmt.Sprint(len(g.Patches)), fmt.Sprint(size.Files), fmt.Sprint(size.Code), fmt.Sprint(size.TestCode), fmt.Sprint(size.Tests)))
		c.rows = append(c.rows, row{key: key, about: "group " + g.Name()})
	}
	c.text = b.String()
	return c
}

// linked returns the name of a pull request, with a link from a page to its text.
func linked(page string, g edit.Group) string {
	return fmt.Sprintf("[%s](%s)", code(g.Name()), from(page, g.Page()))
}
