// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hookline-nri/hookline/internal/edit"
)

// A rule is a statement of a page below a heading of its own: ### L1 Order.
type rule struct {
	kind    string // L
	number  int
	heading string
	text    []string // lines
}

// id returns the name of the rule in patches and tests.
func (r rule) id() string { return fmt.Sprint(r.kind, r.number) }

var ruleHeading = regexp.MustCompile(`^### (([A-Z]+)([1-9][0-9]*) .+)$`)

// The limits of a rule, which has to be readable at a glance.
const (
	ruleLines = 4
	ruleWidth = 130
)

// notKept is the text for a rule that no test is about.
const notKept = "not kept yet"

// readRules returns the rules of a page, in its order.
func readRules(file string) (rules []rule, err error) {
	page, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	inRule := false
	for l := range strings.Lines(string(page)) {
		l = strings.TrimRight(l, "\n")
		if m := ruleHeading.FindStringSubmatch(l); m != nil {
			number, err := strconv.Atoi(m[3])
			if err != nil {
				return nil, fmt.Errorf("%s: %s: %w", file, m[1], err)
			}
			rules = append(rules, rule{kind: m[2], number: number, heading: m[1]})
			inRule = true
		} else if strings.HasPrefix(l, "#") {
			inRule = false
		} else if inRule && l != "" {
			last := &rules[len(rules)-1]
			last.text = append(last.text, l)
		}
	}
	return rules, nil
}

// unread returns an error for each rule of a page that is too long, or not in the order of its
// number.
func unread(page string, rules []rule) (errs []error) {
	for i, r := range rules {
		if len(r.text) == 0 || len(r.text) > ruleLines {
			errs = append(errs, fmt.Errorf("%s: %s has %d lines, and may have 1 to %d", page, r.id(), len(r.text), ruleLines))
		}
		for _, l := range r.text {
			if n := utf8.RuneCountInString(l); n > ruleWidth {
				errs = append(errs, fmt.Errorf("%s: %s has a line of %d characters, and may have %d", page, r.id(), n, ruleWidth))
			}
		}
		if i > 0 && !r.follows(rules[i-1]) {
			errs = append(errs, fmt.Errorf("%s: %s comes after %s", page, r.id(), rules[i-1].id()))
		}
	}
	return errs
}

// follows reports whether a rule is the next of its kind, or the first of another one.
func (r rule) follows(before rule) bool {
	if r.kind != before.kind {
		return r.number == 1
	}
	return r.number == before.number+1
}

// proofContent has a line for each rule: the pull requests that keep it, and where its tests
// are.
func proofContent(r Repository, p Pages) (c content, err error) {
	rules, err := readRules(filepath.Join(r.Root, p.Rules))
	if err != nil {
		return c, err
	}
	proofs, err := findProofs(r.Root)
	if err != nil {
		return c, err
	}
	proofs = slices.DeleteFunc(proofs, func(p proof) bool { return p.rule == "" })
	var b strings.Builder
	b.WriteString(line("rule", "kept by", "tests") + "|---|---|---|\n")
	for _, rule := range rules {
		keeps, tests := keepersOf(r.Series, p.Proofs, rule.id()), proofsOf(proofs, rule.id())
		cell := strings.Join(keeps, ", ")
		if len(tests) == 0 {
			if len(keeps) > 0 {
				c.problems = append(c.problems, fmt.Errorf("%s: no test is about %s, which patches keep", p.Proofs, rule.id()))
			}
			cell = strings.Join(append(keeps, notKept), ", ")
		}
		key := fmt.Sprintf("[%s](%s#%s)", rule.heading, from(p.Proofs, p.Rules), anchor(rule.heading))
		b.WriteString(line(key, cell, testCell(tests, p.Proofs)))
		c.rows = append(c.rows, row{key: key, about: about(rule.id(), tests)})
	}
	c.text = b.String()
	c.problems = append(c.problems, unread(p.Rules, rules)...)
	c.problems = append(c.problems, unstated(r.Series, proofs, rules, p.Rules)...)
	return c, nil
}

// about names a rule and its tests, for an error about a missing line.
func about(id string, tests []proof) string {
	text := "rule " + id
	for _, t := range tests {
		text += ", which has " + t.about()
	}
	return text
}

// keepersOf returns links to the pull requests that help to keep a rule, and the names of patches that
// are in none.
func keepersOf(s edit.Series, page, id string) (links []string) {
	for _, p := range s.Patches {
		if !slices.Contains(p.Rules, id) {
			continue
		}
		link := code(p.Name())
		if i := slices.IndexFunc(s.Groups, func(g edit.Group) bool { return g.Folder == p.In }); i >= 0 {
			link = linked(page, s.Groups[i])
		}
		if !slices.Contains(links, link) {
			links = append(links, link)
		}
	}
	return links
}

// testCell links the folders of tests at the first two levels, each with how many are below it.
func testCell(tests []proof, page string) string {
	var folders []string
	count := map[string]int{}
	for _, t := range tests {
		parts := strings.Split(path.Dir(t.file), "/")
		folder := path.Join(parts[:min(2, len(parts))]...)
		if count[folder]++; count[folder] == 1 {
			folders = append(folders, folder)
		}
	}
	for i, folder := range folders {
		folders[i] = fmt.Sprintf("[%s](%s) %d", folder, from(page, folder), count[folder])
	}
	return strings.Join(folders, ", ")
}

// from returns the link from a page to a file. Both are below the root of the repository.
func from(page, file string) string {
	up := strings.Repeat("../", strings.Count(page, "/"))
	if beside, ok := strings.CutPrefix(file, path.Dir(page)+"/"); ok {
		return beside
	}
	return up + file
}

// unstated returns an error for each patch or test of a rule that the page does not state.
func unstated(s edit.Series, proofs []proof, rules []rule, page string) (errs []error) {
	stated := func(id string) bool { return slices.ContainsFunc(rules, func(r rule) bool { return r.id() == id }) }
	const format = "%s: %s is about rule %s, which the page does not state"
	for _, p := range s.Patches {
		for _, id := range p.Rules {
			if !stated(id) {
				errs = append(errs, fmt.Errorf(format, page, p.Name(), id))
			}
		}
	}
	for _, t := range proofs {
		if !stated(t.rule) {
			errs = append(errs, fmt.Errorf(format, page, t.about(), t.rule))
		}
	}
	return errs
}

func proofsOf(proofs []proof, rule string) (of []proof) {
	for _, p := range proofs {
		if p.rule == rule {
			of = append(of, p)
		}
	}
	return of
}

func list(names []string) string {
	coded := make([]string, 0, len(names))
	for _, n := range names {
		coded = append(coded, code(n))
	}
	return strings.Join(coded, ", ")
}
