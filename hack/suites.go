// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/hookline-nri/hookline/integration/suites"
)

// sides are the runtimes that other projects' suites run on. The first one is the reference.
var sides = []string{"stock", "hookline"}

// withoutPause is a flag of suites.
var withoutPause = &cli.BoolFlag{Name: "without-pause", Usage: "make the pods of hookline without a pause container; pods of both have PID namespaces of their own by default, as the kubelet's"}

// tell prints the results of a suite, or a part of it, on each side.
func (a *app) tell(part string, results map[string]suites.Results) {
	for _, side := range sides {
		r := results[side]
		fmt.Fprintf(a.stdout, "%s%s: %d passed, %d failed, %d skipped\n", side, part, r.Count("passed"), r.Count("failed"), r.Count("skipped"))
	}
}

// worse fails if a test of a suite does worse on hookline than on stock. out has a folder for
// each side.
func worse(suite, out string, results map[string]suites.Results) error {
	tests := suites.Worse(results["stock"], results["hookline"])
	if len(tests) == 0 {
		return nil
	}
	for i, test := range tests {
		tests[i] = fmt.Sprintf("%s: %s on stock, %s on hookline", test, results["stock"][test].State, cmp.Or(results["hookline"][test].State, "not run"))
	}
	return fmt.Errorf("these tests of %s do worse on hookline than on stock, see %s:\n%s",
		suite, short(filepath.Join(out, "hookline", "output.txt")), strings.Join(tests, "\n"))
}
