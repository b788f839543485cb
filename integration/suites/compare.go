// SPDX-License-Identifier: Apache-2.0

package suites

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// rank orders the states of tests. A skipped test proves nothing, so it is below a passed one. A
// test that failed, or did not run to its end, is below a skipped one.
var rank = map[string]int{"passed": 2, "skipped": 1}

// Worse lists the regressions of hookline: tests that pass on stock and not on hookline, and tests
// that are skipped on stock and fail on hookline.
func Worse(stock, hookline Results) (worse []string) {
	for name, result := range stock {
		if rank[hookline[name].State] < rank[result.State] {
			worse = append(worse, name)
		}
	}
	slices.Sort(worse)
	return worse
}

// Outermost returns the outermost tests of the given ones.
func Outermost(tests []string) (outermost []string) {
	for _, name := range tests {
		whole, _, _ := strings.Cut(name, "/")
		if !slices.Contains(outermost, whole) {
			outermost = append(outermost, whole)
		}
	}
	return outermost
}

// Count returns how many tests have a state.
func (r Results) Count(state string) (count int) {
	for _, result := range r {
		if result.State == state {
			count++
		}
	}
	return count
}

// Split divides the results into those for which a condition holds, and the others.
func (r Results) Split(holds func(Result) bool) (yes, no Results) {
	yes, no = maps.Clone(r), maps.Clone(r)
	maps.DeleteFunc(yes, func(_ string, result Result) bool { return !holds(result) })
	maps.DeleteFunc(no, func(_ string, result Result) bool { return holds(result) })
	return yes, no
}

// Table writes the result of each test on both runtimes, in Markdown, sorted by name. It has a
// column of reasons if a test gives one.
func Table(w io.Writer, stock, hookline Results) error {
	all := maps.Clone(stock)
	maps.Copy(all, hookline)
	reasons := map[string]string{}
	for name := range all {
		if why := reason(stock[name], hookline[name]); why != "" {
			reasons[name] = why
		}
	}
	rows := "| test | stock | hookline |\n|---|---|---|\n"
	if len(reasons) > 0 {
		rows = "| test | stock | hookline | reason |\n|---|---|---|---|\n"
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		rows += fmt.Sprintf("| %s | %s | %s |", name, state(stock, name), state(hookline, name))
		if len(reasons) > 0 {
			rows += fmt.Sprintf(" %s |", reasons[name])
		}
		rows += "\n"
	}
	_, err := io.WriteString(w, rows)
	return err
}

func state(r Results, name string) string {
	return cmp.Or(r[name].State, "missing")
}

// reason says why a test did not pass, for a cell of a table.
func reason(stock, hookline Result) string {
	s, h := cell(stock.Reason), cell(hookline.Reason)
	switch {
	case s == h || h == "":
		return s
	case s == "":
		return "hookline: " + h
	}
	return "stock: " + s + "<br>hookline: " + h
}

// longest is the maximum length of a reason in a table, in runes. The test's output has the rest.
const longest = 240

// id matches the id of a pod or container. A table shortens it as crictl does.
var id = regexp.MustCompile(`\b([0-9a-f]{13})[0-9a-f]{51}\b`)

var escape = strings.NewReplacer("|", "\\|", "<", "&lt;", ">", "&gt;")

// cell shortens a text to one line.
func cell(text string) string {
	line := []rune(strings.Join(strings.Fields(id.ReplaceAllString(text, "$1")), " "))
	if len(line) > longest {
		line = append(line[:longest:longest], '…')
	}
	return escape.Replace(string(line))
}
