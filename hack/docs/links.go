// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

// checkLinks finds the links within the repository that lead nowhere: to a file that does not exist,
// or a heading that its page does not have.
func checkLinks(root string, patterns []string) (errs []error) {
	pages := map[string]page{}
	for _, pattern := range patterns {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			return []error{err}
		}
		if len(files) == 0 {
			errs = append(errs, fmt.Errorf("%s: no such page", pattern))
		}
		for _, file := range files {
			p, err := read(pages, file)
			if err != nil {
				return append(errs, err)
			}
			name, _ := filepath.Rel(root, file)
			for _, link := range p.links {
				if why := follow(pages, file, link); why != "" {
					errs = append(errs, fmt.Errorf("%s: the link to %s: %s", name, link, why))
				}
			}
		}
	}
	return errs
}

// A page has the links of a Markdown file, and the anchors that others can link to.
type page struct{ links, anchors []string }

// follow returns why a link leads nowhere, or an empty text.
func follow(pages map[string]page, from, link string) string {
	to, err := url.Parse(link)
	if err != nil {
		return err.Error()
	}
	if to.Scheme != "" || to.Host != "" {
		return "" // not ours
	}
	file := from
	if to.Path != "" {
		file = filepath.Join(filepath.Dir(from), filepath.FromSlash(to.Path))
	}
	if _, err := os.Stat(file); err != nil {
		return "no such file"
	}
	if to.Fragment == "" || filepath.Ext(file) != ".md" {
		return ""
	}
	p, err := read(pages, file)
	if err != nil {
		return err.Error()
	}
	if !slices.Contains(p.anchors, to.Fragment) {
		return "the page has no such heading"
	}
	return ""
}

// read parses a file of Markdown, once.
func read(pages map[string]page, file string) (page, error) {
	if p, ok := pages[file]; ok {
		return p, nil
	}
	source, err := os.ReadFile(file)
	if err != nil {
		return page{}, err
	}
	var p page
	times := map[string]int{}
	err = ast.Walk(goldmark.DefaultParser().Parse(text.NewReader(source)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Link:
			p.links = append(p.links, string(n.Destination))
		case *ast.Image:
			p.links = append(p.links, string(n.Destination))
		case *ast.Heading:
			a := anchor(words(n, source))
			if times[a]++; times[a] > 1 {
				a = fmt.Sprintf("%s-%d", a, times[a]-1)
			}
			p.anchors = append(p.anchors, a)
		}
		return ast.WalkContinue, nil
	})
	pages[file] = p
	return p, err
}

// words returns the text of a node.
func words(n ast.Node, source []byte) string {
	if t, ok := n.(*ast.Text); ok {
		return string(t.Segment.Value(source))
	}
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		b.WriteString(words(c, source))
	}
	return b.String()
}

var notInAnchor = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)

// anchor returns the anchor that common forges give a heading.
func anchor(heading string) string {
	return strings.ReplaceAll(notInAnchor.ReplaceAllString(strings.ToLower(heading), ""), " ", "-")
}
