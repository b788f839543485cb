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

	"github.com/hookline-nri/hookline/integration/suites"
)

// goTest runs tests of this repository with additional environment variables, and keeps the output
// of go test -json in a file. Tests that fail are no error. Each line of a test's output goes to said.
func (a *app) goTest(ctx context.Context, file string, env, args []string, said func(test, output string)) (suites.Results, error) {
	out, err := os.Create(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = out.Close() }() // the program has its own
	cmd := exec.CommandContext(ctx, "go", append([]string{"test", "-json", "-count=1", "-trimpath"}, args...)...)
	cmd.Dir = a.root
	cmd.Env = append(append(os.Environ(), "CGO_ENABLED=0"), env...)
	cmd.Stdout, cmd.Stderr = out, out
	ended := cmd.Run() // an error if a test failed, which the output shows
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	results, err := readTests(file, said)
	if err != nil {
		return nil, fmt.Errorf("%w: %w: see %s", ended, err, short(file))
	}
	return results, nil
}

// readTests reads the output of go test -json. Each line of a test's output goes to said.
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
			return results, fmt.Errorf("read the output of the tests: %w", err)
		case event.Test == "":
		case verdicts[event.Action] != "":
			results[event.Test] = suites.Result{State: verdicts[event.Action]}
		default:
			said(event.Test, event.Output)
		}
	}
}
