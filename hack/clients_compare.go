// SPDX-License-Identifier: Apache-2.0

package main

import (
	"maps"
	"regexp"
	"slices"
)

// observation matches a line that a flow has observed, with the improvement that it names.
var observation = regexp.MustCompile(`^\s+\S+_test\.go:\d+: observed: (.*?)(?: \(improved: (.*)\))?\n$`)

// step is one observation of a flow, and why hookline may differ there.
type step struct{ saw, why string }

// read keeps the observations of a test.
func (f flows) read(test, output string) {
	if m := observation.FindStringSubmatch(output); m != nil {
		f.observed[test] = append(f.observed[test], step{m[1], m[2]})
	}
}

// difference is an observation that differs between the sides, and why hookline's is better.
type difference struct{ stock, hookline, why string }

// compare lists the differences of two runs of a flow. A difference has a reason only if both
// runs name it.
func compare(stock, hookline []step) (found []difference) {
	for i := range max(len(stock), len(hookline)) {
		was, is := at(stock, i), at(hookline, i)
		if was.saw == is.saw {
			continue
		}
		if was.why != is.why {
			is.why = ""
		}
		found = append(found, difference{was.saw, is.saw, is.why})
	}
	return found
}

// at returns a step of a run, which may have ended before it.
func at(run []step, i int) step {
	if i >= len(run) {
		return step{saw: "nothing more"}
	}
	return run[i]
}

// differing returns the flows that differ without a named improvement, or pass on stock alone.
func differing(stock, hookline flows) (names []string) {
	all := maps.Clone(stock.results)
	maps.Copy(all, hookline.results)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		worse := stock.results[name].State == "passed" && hookline.results[name].State != "passed"
		unnamed := slices.ContainsFunc(compare(stock.observed[name], hookline.observed[name]), func(d difference) bool { return d.why == "" })
		if worse || unnamed {
			names = append(names, name)
		}
	}
	return names
}
