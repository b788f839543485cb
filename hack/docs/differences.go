// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"

	"github.com/hookline-nri/hookline/internal/edit"
)

// A difference is an item of the page that lists the changes for users of the released runtime.
type difference struct {
	says string   // its first line, which errors quote
	code []string // its words in the font of code
}

// checkDifferences finds the differences that name no existing patch or no existing test, and the
// patches that the page does not name. A page without a name is not checked.
func checkDifferences(r Repository, name string) []error {
	if name == "" {
		return nil
	}
	source, err := os.ReadFile(filepath.Join(r.Root, name))
	if err != nil {
		return []error{fmt.Errorf("the page of differences: %w", err)}
	}
	proofs, err := findProofs(r.Root)
	if err != nil {
		return []error{err}
	}
	var tests []string
	for _, p := range proofs {
		tests = append(tests, p.name)
	}
	errs := checkEach(source, names(r.Series), tests)
	for i, err := range errs {
		errs[i] = fmt.Errorf("%s: %w", name, err)
	}
	return errs
}

func checkEach(source []byte, patches, tests []string) (errs []error) {
	for _, d := range differencesIn(source) {
		patch, test := false, false
		for _, word := range d.code {
			switch {
			case slices.Contains(patches, word):
				patch = true
			case slices.Contains(tests, word):
				test = true
			case isTest.MatchString(word):
				errs = append(errs, fmt.Errorf("%q: no test %s exists", d.says, word))
			}
		}
		if !patch {
			errs = append(errs, fmt.Errorf("%q: name the patch that makes the difference", d.says))
		}
		if !test {
			errs = append(errs, fmt.Errorf("%q: name a test that tries it", d.says))
		}
	}
	for _, p := range patches {
		if !bytes.Contains(source, []byte(code(p))) {
			errs = append(errs, fmt.Errorf("no item names %s: add one, or name the patch under \"Nothing to notice\"", p))
		}
	}
	return errs
}

// isTest matches a name of a test or of a case.
var isTest = regexp.MustCompile(`^Test\w+$|^[A-Z]+[0-9]+_\w+$`)

func names(s edit.Series) (all []string) {
	for _, p := range s.Patches {
		all = append(all, p.Name())
	}
	return all
}

// differencesIn returns the items of the lists of a page, without those that link to its sections.
func differencesIn(source []byte) (all []difference) {
	page := goldmark.DefaultParser().Parse(text.NewReader(source))
	_ = ast.Walk(page, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // never fails
		if item, ok := n.(*ast.ListItem); ok && entering {
			if d := differenceOf(item, source); !strings.HasPrefix(d.says, "[") {
				all = append(all, d)
			}
			return ast.WalkSkipChildren, nil
		}
		return ast.WalkContinue, nil
	})
	return all
}

func differenceOf(item ast.Node, source []byte) (d difference) {
	if lines := item.FirstChild().Lines(); lines.Len() > 0 {
		first := lines.At(0)
		d.says = strings.TrimSpace(string(first.Value(source)))
	}
	_ = ast.Walk(item, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // never fails
		if code, ok := n.(*ast.CodeSpan); ok && entering {
			d.code = append(d.code, words(code, source))
		}
		return ast.WalkContinue, nil
	})
	return d
}
