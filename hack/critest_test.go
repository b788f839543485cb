// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/integration/suites"
)

func TestProposedCasesAreKeptApart(t *testing.T) {
	ours, theirs := suites.Result{State: "passed", File: "module/pkg/validate/" + proposedFile}, suites.Result{State: "passed", File: "module/pkg/validate/pod.go"}
	proposed, released := proposals(map[string]suites.Results{"stock": {"a": theirs}, "hookline": {"a": theirs, "b": ours}})
	require.Equal(t, map[string]suites.Results{"stock": {}, "hookline": {"b": ours}}, proposed)
	require.Equal(t, map[string]suites.Results{"stock": {"a": theirs}, "hookline": {"a": theirs}}, released)
}

func TestProposedCasesHaveToPass(t *testing.T) {
	for state, tc := range map[string]struct {
		result suites.Result
		fails  string
	}{
		"passed":           {result: suites.Result{State: "passed"}},
		"not in the focus": {result: suites.Result{State: "skipped"}},
		"failed":           {result: suites.Result{State: "failed", Reason: "no event"}, fails: "case, which is proposed to critest, does not pass on hookline, see critest/hookline/output.txt: failed: no event"},
		"skipped itself":   {result: suites.Result{State: "skipped", Reason: "no command"}, fails: "skipped: no command"},
		"interrupted":      {result: suites.Result{State: "interrupted"}, fails: "interrupted"},
	} {
		t.Run(state, func(t *testing.T) {
			err := kept("critest", suites.Results{"other": {State: "passed"}, "case": tc.result})
			if tc.fails == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, tc.fails)
		})
	}
	require.ErrorContains(t, kept("critest", nil), "no case of "+proposedFile)
}
