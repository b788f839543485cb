// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/hookline-nri/hookline/internal/edit"
)

// A rule is stated by an item of a list that begins with its id in bold.
var ruleText = regexp.MustCompile(`(?m)^- \*\*([A-Z]+[0-9]+)\b`)

// notKept is what holds of a rule that no patch and no test is about.
const notKept = "not kept yet"

// ruleContent has a line for each rule that the page states. What holds of it is
// kept from the page.
func ruleContent(r Repository, p Pages, page block) (c content, err error) {
	proofs, err := findProofs(r.Root)
	if err != nil {
		return c, err
	}
	proofs = slices.DeleteFunc(proofs, func(p proof) bool { return p.rule == "" })
	var rules []string
	for _, m := range ruleText.FindAllStringSubmatch(page.before+page.after, -1) {
		rules = append(rules, m[1])
	}
	written := linesByKey(page.table)
	var b strings.Builder
	b.WriteString(line("rule", "what holds", "patches", "proof") + "|---|---|---|---|\n")
	for _, rule := range rules {
		patches := patchesOf(r.Series, rule)
		tests := proofsOf(proofs, rule)
		holds := holdsOf(written[rule])
		problem := judge(holds, patches, tests)
		if problem != "" {
			c.problems = append(c.problems, fmt.Errorf("%s: %s: %s", p.Rules, rule, problem))
		} else if len(patches)+len(tests) == 0 {
			holds = notKept
		}
		b.WriteString(line(rule, holds, list(patches), proofCell(tests, p.Proofs)))
		c.rows = append(c.rows, ruleRow(rule, patches, tests))
	}
	c.text = b.String()
	c.problems = append(c.problems, unstated(r.Series, proofs, rules, p.Rules)...)
	return c, nil
}

// judge tells what a person has to do about what holds of a rule.
func judge(holds string, patches []string, tests []proof) string {
	switch {
	case len(patches)+len(tests) == 0 && holds != "":
		return "it says what holds, but no patch and no test is about it"
	case len(patches)+len(tests) > 0 && holds == "":
		about := append([]string{}, patches...)
		for _, t := range tests {
			about = append(about, t.about())
		}
		return "write what holds of it, in its line: it is kept by " + strings.Join(about, ", ")
	}
	return ""
}

func ruleRow(rule string, patches []string, tests []proof) row {
	r := row{key: rule, about: "rule " + rule}
	for _, name := range patches {
		r.items = append(r.items, item{code(name), "patch " + name})
	}
	for _, t := range tests {
		r.items = append(r.items, item{code(t.name), t.about()})
		r.about += ", which has " + t.about()
	}
	return r
}

// unstated are the patches and tests of rules that the page does not state.
func unstated(s edit.Series, proofs []proof, rules []string, page string) (errs []error) {
	const format = "%s: %s is about rule %s, which the page does not state"
	for _, p := range s.Patches {
		for _, rule := range p.Rules {
			if !slices.Contains(rules, rule) {
				errs = append(errs, fmt.Errorf(format, page, p.Name(), rule))
			}
		}
	}
	for _, t := range proofs {
		if !slices.Contains(rules, t.rule) {
			errs = append(errs, fmt.Errorf(format, page, t.about(), t.rule))
		}
	}
	return errs
}

// holdsOf is what a line of the table says that holds, in a person's words.
func holdsOf(line string) string {
	if c := cells(line); len(c) > 1 && c[1] != notKept {
		return c[1]
	}
	return ""
}

func patchesOf(s edit.Series, rule string) (names []string) {
	for _, p := range s.Patches {
		if slices.Contains(p.Rules, rule) {
			names = append(names, p.Name())
		}
	}
	return names
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
