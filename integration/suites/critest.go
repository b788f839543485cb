// SPDX-License-Identifier: Apache-2.0

package suites

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// network is the node's own network with portmap, which some tests need.
const network = `{
  "cniVersion": "1.0.0",
  "name": "critest",
  "plugins": [
    {"type": "ptp", "ipMasq": false, "ipam": {
      "type": "host-local", "ranges": [[{"subnet": "10.88.0.0/21"}]], "routes": [{"dst": "0.0.0.0/0"}], "dataDir": %q
    }},
    {"type": "portmap", "snat": true, "capabilities": {"portMappings": true}}
  ]
}`

// Runtime is a runtime that serves CRI and NRI, on a host of its own.
type Runtime interface {
	CRISocket() string
	NRISocket() string
	Within(func() error) error // runs a program beside it
	Kill(context.Context) error
	Boot(context.Context) error
}

// Critest runs critest on a node of its own, as OnRuntime does.
func (r Registry) Critest(ctx context.Context, o Options, program string, focus []string) (results Results, err error) {
	err = r.on(ctx, o, func(n served, folder, _ string) (err error) {
		results, err = OnRuntime(ctx, n, folder, program, focus)
		return err
	})
	return results, err
}

// OnRuntime runs critest, built as program, on a runtime that has its images, with the tests of
// NRI. Tests that fail are no error. focus has regular expressions for the names of tests; if it is
// empty, all run. The flag runtime-restart-command is a command that kills the runtime and starts
// it again. Output and report are in folder.
func OnRuntime(ctx context.Context, on Runtime, folder, program string, focus []string) (_ Results, retErr error) {
	restarter, err := restarts(ctx, on, folder)
	if err != nil {
		return nil, err
	}
	defer func() { retErr = errors.Join(retErr, restarter.close()) }()
	report := filepath.Join(folder, "report.json")
	args := []string{
		"-runtime-endpoint=unix://" + on.CRISocket(), "-config=/dev/null",
		"-nri-socket=" + on.NRISocket(), "-runtime-restart-command=" + restarter.command,
		"-ginkgo.json-report=" + report, "-ginkgo.no-color", "-ginkgo.seed=1",
	}
	for _, f := range focus {
		args = append(args, "-ginkgo.focus="+f)
	}
	ended := run(ctx, on, folder, program, args...) // also an error if a test failed, which the report has
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	results, err := read(report)
	if err != nil {
		return nil, fmt.Errorf("critest, whose output is in %s: %w", filepath.Join(folder, output), errors.Join(ended, err))
	}
	return results, nil
}

// suiteReport has the parts of ginkgo's report that are used.
type suiteReport struct {
	SpecReports []struct {
		ContainerHierarchyTexts []string
		LeafNodeType            string
		LeafNodeText            string
		LeafNodeLocation        struct{ FileName string }
		State                   string
		Failure                 struct{ Message string } // also of a skipped test
	}
}

// read reads a report of ginkgo's. A report without a test that ran is an error.
func read(file string) (Results, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var suites []suiteReport
	if err := json.Unmarshal(content, &suites); err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	results, ran := Results{}, false
	for _, s := range suites {
		for _, spec := range s.SpecReports {
			if spec.LeafNodeType != "It" {
				if spec.State != "passed" {
					return nil, fmt.Errorf("%s of critest: %s", spec.LeafNodeType, spec.State)
				}
				continue
			}
			name := strings.Join(append(slices.Clone(spec.ContainerHierarchyTexts), spec.LeafNodeText), " ")
			results[name] = Result{State: spec.State, Reason: said(spec.Failure.Message), File: spec.LeafNodeLocation.FileName}
			ran = ran || spec.State != "skipped"
		}
	}
	if !ran {
		return nil, fmt.Errorf("%s: no test ran", file)
	}
	return results, nil
}

// said is the message of a failure without the compared values, which have memory addresses.
func said(message string) string {
	message, _, _ = strings.Cut(message, "\nUnexpected error:")
	message, _, _ = strings.Cut(message, "\nExpected")
	return message
}
