// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/hookline-nri/hookline/integration/suites"
)

// mobyTests is the package of the tests of moby.
const mobyTests = "./integration/moby"

// mobyCases runs the tests of moby.
func (a *app) mobyCases(ctx context.Context, r peerRun, side string, names []string) (suites.Results, error) {
	args := []string{"-timeout=20m"}
	if len(names) > 0 {
		args = append(args, "-run=^("+strings.Join(names, "|")+")$")
	}
	tools, toolsErr := filepath.Abs(r.tools)
	stock, stockErr := filepath.Abs(r.stock)
	if err := errors.Join(toolsErr, stockErr); err != nil {
		return nil, err
	}
	env := []string{"DOCKERD=" + filepath.Join(r.out, side), "CONTAINERD=" + stock, "TOOLS=" + tools}
	measured := map[string][]string{}
	results, err := a.goTest(ctx, filepath.Join(r.out, side, "tests.json"), env, append(args, mobyTests), func(test, output string) {
		if m := measure.FindStringSubmatch(output); m != nil {
			measured[test] = append(measured[test], m[1])
		}
	})
	if err != nil {
		return nil, err
	}
	for test, all := range measured {
		results[test] = suites.Result{State: results[test].State, Reason: strings.Join(all, ", ")}
	}
	return results, nil
}

// measure matches a measurement in the log of a test.
var measure = regexp.MustCompile(`^\s+\S+_test\.go:\d+: (\S+ took \S+)\n$`)
