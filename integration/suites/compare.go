// SPDX-License-Identifier: Apache-2.0

package suites

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// Worse lists the tests that stock passes and hookline does not.
func Worse(stock, hookline Results) (worse []string) {
	for name, state := range stock {
		if state == "passed" && hookline[name] != "passed" {
			worse = append(worse, name)
		}
	}
	slices.Sort(worse)
	return worse
}

// Outermost are the tests of which these are, or are parts.
func Outermost(tests []string) (outermost []string) {
	for _, name := range tests {
		whole, _, _ := strings.Cut(name, "/")
		if !slices.Contains(outermost, whole) {
			outermost = append(outermost, whole)
		}
	}
	return outermost
}

// Count tells how many tests have a state.
func (r Results) Count(state string) (count int) {
	for _, s := range r {
		if s == state {
			count++
		}
	}
	return count
}

// Table writes what came of each test on both, in markdown, sorted by name.
func Table(w io.Writer, stock, hookline Results) error {
	all := maps.Clone(stock)
	maps.Copy(all, hookline)
	rows := "| test | stock | hookline |\n|---|---|---|\n"
	for _, name := range slices.Sorted(maps.Keys(all)) {
		rows += fmt.Sprintf("| %s | %s | %s |\n", name, state(stock, name), state(hookline, name))
	}
	_, err := io.WriteString(w, rows)
	return err
}

func state(r Results, name string) string {
	if s := r[name]; s != "" {
		return s
	}
	return "not there"
}
