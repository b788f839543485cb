// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// figures are the lines of the page of performance that the summary repeats, by their first
// cell, and what the summary calls them.
var figures = []struct{ line, shown string }{
	{"RunPodSandbox", "RunPodSandbox"},
	{"StopPodSandbox", "StopPodSandbox"},
	{"RemovePodSandbox", "RemovePodSandbox"},
	{"RunPodSandbox without a pause container", "RunPodSandbox without a pause container, which is off by default"},
	{"Pods per second, 8 at a time, without a pause container", "pods per second without a pause container, eight at a time"},
	{"The same while another pod's hook takes 1.5 s", "a container, while the hook of another pod takes 1.5 s"},
	{"StopPodSandbox past five hung plugins (request timeouts)", "StopPodSandbox with five plugins that hang, in request timeouts"},
}

// figureContent repeats measurements of the page of performance, which a person has put there.
func figureContent(r Repository, p Pages) (content, error) {
	page, err := os.ReadFile(filepath.Join(r.Root, p.Figures))
	if err != nil {
		return content{}, fmt.Errorf("the page of the figures: %w", err)
	}
	var b strings.Builder
	b.WriteString(line("", "stock", "hookline", "ratio") + "|---|---|---|---|\n")
	var c content
	for _, f := range figures {
		measured := measuredIn(string(page), f.line)
		if measured == nil {
			c.problems = append(c.problems, fmt.Errorf("%s: no line %q with its figures on stock and patched, and their ratio", p.Figures, f.line))
			continue
		}
		b.WriteString(line(f.shown, median(measured[1]), median(measured[2]), measured[3]))
		c.rows = append(c.rows, row{key: f.shown, about: "the figures of " + f.line})
	}
	c.text = b.String()
	return c, nil
}

// measuredIn returns the cells of a line that has figures on stock and patched, and their ratio.
// Lines of other tables may begin alike.
func measuredIn(page, first string) []string {
	for l := range strings.Lines(page) {
		if c := cells(l); len(c) >= 4 && c[0] == first {
			return c
		}
	}
	return nil
}

// median leaves out how far the confidence interval reaches.
func median(figure string) string {
	m, _, _ := strings.Cut(figure, " ±")
	return m
}
