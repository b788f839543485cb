// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/hookline-nri/hookline/integration/suites"
)

// mobyTests is the package of the tests of moby.
const mobyTests = "./integration/moby"

// mobyCases runs the tests of moby.
func (a *app) mobyCases(ctx context.Context, r peerRun, side string, names []string) (suites.Results, error) {
	out, err := os.Create(filepath.Join(r.out, side, "tests.json"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = out.Close() }() // the program has its own
	args := []string{"test", "-json", "-count=1", "-trimpath", "-timeout=20m"}
	if len(names) > 0 {
		args = append(args, "-run=^("+strings.Join(names, "|")+")$")
	}
	cmd := exec.CommandContext(ctx, "go", append(args, mobyTests)...)
	cmd.Dir = a.root
	tools, toolsErr := filepath.Abs(r.tools)
	stock, stockErr := filepath.Abs(r.stock)
	if err := errors.Join(toolsErr, stockErr); err != nil {
		return nil, err
	}
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "DOCKERD="+filepath.Join(r.out, side), "CONTAINERD="+stock, "TOOLS="+tools)
	cmd.Stdout, cmd.Stderr = out, out
	ended := cmd.Run() // an error if a test failed, which the output has
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	measured := map[string][]string{}
	results, err := readTests(out.Name(), func(test, output string) {
		if m := measure.FindStringSubmatch(output); m != nil {
			measured[test] = append(measured[test], m[1])
		}
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %w: see %s", ended, err, short(out.Name()))
	}
	for test, all := range measured {
		results[test] = suites.Result{State: results[test].State, Reason: strings.Join(all, ", ")}
	}
	return results, nil
}

// measure finds what a test logs of what it has measured.
var measure = regexp.MustCompile(`^\s+\S+_test\.go:\d+: (\S+ took \S+)\n$`)

// readTests reads what go test -json has printed. Each line that a test printed goes to said.
func readTests(file string, said func(test, output string)) (suites.Results, error) {
	results := suites.Results{}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	verdicts := map[string]string{"pass": "passed", "fail": "failed", "skip": "skipped"}
	for lines := json.NewDecoder(f); ; {
		var event struct{ Action, Test, Output string }
		switch err := lines.Decode(&event); {
		case errors.Is(err, io.EOF):
			if len(results) == 0 {
				return results, errors.New("no test ran")
			}
			return results, nil
		case err != nil:
			return results, fmt.Errorf("read what the tests printed: %w", err)
		case event.Test == "":
		case verdicts[event.Action] != "":
			results[event.Test] = suites.Result{State: verdicts[event.Action]}
		default:
			said(event.Test, event.Output)
		}
	}
}
