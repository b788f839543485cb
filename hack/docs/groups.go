// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/hookline-nri/hookline/internal/edit"
)

// groupContent is a line for each pull request: what it is, what it needs, how large it
// is. Each has a page with its text, which a person writes.
func groupContent(r Repository, p Pages) (c content) {
	var b strings.Builder
	b.WriteString(line("pull request", "of", "needs", "patches", "files", "lines", "of tests", "tests") + "|---|---|---|---|---|---|---|---|\n")
	for _, g := range r.Series.Groups {
		size := r.Sizes[g.Name]
		hold := ""
		for _, name := range g.Patches {
			for _, patch := range r.Series.Patches {
				if patch.Name() == name && patch.Status == edit.Hold {
					hold = " (on hold)"
				}
			}
		}
		var needs []string
		for _, before := range r.Series.Needs(g) {
			needs = append(needs, code(before.Name))
		}
		page := path.Join(p.Pulls, g.Name+".md")
		key := fmt.Sprintf("[%s](%s)", code(g.Name), path.Join(path.Base(p.Pulls), g.Name+".md"))
		b.WriteString(line(key, g.Module(r.Series)+hold, strings.Join(needs, ", "), fmt.Sprint(len(g.Patches)), fmt.Sprint(size.Files), fmt.Sprint(size.Code), fmt.Sprint(size.TestCode), fmt.Sprint(size.Tests)))
		c.rows = append(c.rows, row{key: key, about: "group " + g.Name})
		if _, err := os.Stat(filepath.Join(r.Root, page)); err != nil {
			c.problems = append(c.problems, fmt.Errorf("%s: no such page: it has the text of pull request %s", page, g.Name))
		}
	}
	c.text = b.String()
	return c
}
