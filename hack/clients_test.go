// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/integration/suites"
)

// printed is output of go test -json for a flow.
const printed = `{"Action":"run","Test":"TestCtr/life"}
{"Action":"output","Test":"TestCtr/life","Output":"    ctr_test.go:12: observed: ctr run one: 0\n"}
{"Action":"output","Test":"TestCtr/life","Output":"    ctr_test.go:13: left: map[]\n"}
{"Action":"output","Test":"TestCtr/life","Output":"    ctr_test.go:14: observed: left: mount 1 (improved: the mount is removed)\n"}
{"Action":"pass","Test":"TestCtr/life"}
`

func TestFlowsAreRead(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tests.json")
	require.NoError(t, os.WriteFile(file, []byte(printed), 0o644))
	f := flows{observed: map[string][]step{}}
	results, err := readTests(file, f.read)
	require.NoError(t, err)
	assert.Equal(t, suites.Results{"TestCtr/life": {State: "passed"}}, results)
	assert.Equal(t, []step{{"ctr run one: 0", ""}, {"left: mount 1", "the mount is removed"}}, f.observed["TestCtr/life"])
}

func TestFlowsThatDiffer(t *testing.T) {
	for name, c := range map[string]struct {
		stock, hookline            []step
		stockResult, patchedResult string
		differ                     bool
	}{
		"same":                      {[]step{{"a: 0", ""}}, []step{{"a: 0", ""}}, "passed", "passed", false},
		"other code":                {[]step{{"a: 0", ""}}, []step{{"a: 1", ""}}, "passed", "passed", true},
		"improved":                  {[]step{{"a: 1", "why"}}, []step{{"a: 0", "why"}}, "passed", "passed", false},
		"improved for other reason": {[]step{{"a: 1", "why"}}, []step{{"a: 0", "because"}}, "passed", "passed", true},
		"ends before":               {[]step{{"a: 0", ""}, {"b: 0", ""}}, []step{{"a: 0", ""}}, "passed", "passed", true},
		"fails on hookline":         {nil, nil, "passed", "failed", true},
		"fails on both":             {nil, nil, "failed", "failed", false},
		"not run on hookline":       {nil, nil, "passed", "", true},
	} {
		t.Run(name, func(t *testing.T) {
			of := func(result string, steps []step) flows {
				return flows{suites.Results{"TestCtr/life": {State: result}}, map[string][]step{"TestCtr/life": steps}}
			}
			got := differing(of(c.stockResult, c.stock), of(c.patchedResult, c.hookline))
			assert.Equal(t, c.differ, len(got) > 0, "%q", got)
		})
	}
}

func TestPatternOfFlows(t *testing.T) {
	assert.Equal(t, "^(TestCtr|TestDocker)$/^(life|stop|life)$", pattern([]string{"TestDocker/life", "TestDocker/stop", "TestCtr/life"}))
}
