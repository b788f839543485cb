// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/integration/suites"
)

func TestReadTests(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tests.json")
	require.NoError(t, os.WriteFile(file, []byte(`
{"Action":"start","Package":"moby"}
{"Action":"run","Test":"TestA"}
{"Action":"output","Test":"TestA","Output":"    moby_test.go:12: creation took 2.1s\n"}
{"Action":"output","Test":"TestA","Output":"    moby_test.go:13: info took 9ms\n"}
{"Action":"output","Test":"TestA","Output":"    moby_test.go:14: it said: a thing took 3s, or so\n"}
{"Action":"pass","Test":"TestA"}
{"Action":"fail","Test":"TestB"}
{"Action":"skip","Test":"TestC"}
{"Action":"fail","Package":"moby"}
`), 0o600))
	var took []string
	read := func() (suites.Results, error) {
		return readTests(file, func(test, output string) {
			if m := measure.FindStringSubmatch(output); m != nil {
				took = append(took, test+" "+m[1])
			}
		})
	}
	got, err := read()
	require.NoError(t, err)
	require.Equal(t, suites.Results{"TestA": {State: "passed"}, "TestB": {State: "failed"}, "TestC": {State: "skipped"}}, got)
	require.Equal(t, []string{"TestA creation took 2.1s", "TestA info took 9ms"}, took)

	require.NoError(t, os.WriteFile(file, []byte(`{"Action":"fail","Package":"moby"}`), 0o600))
	_, err = read()
	require.ErrorContains(t, err, "no test ran")

	require.NoError(t, os.WriteFile(file, []byte("# moby\nmoby_test.go:1:1: expected 'package'\n"), 0o600))
	_, err = read()
	require.ErrorContains(t, err, "read the output of the tests")
}

func TestWritePeer(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "moby.md")
	results := func(released, patched suites.Result) map[string]suites.Results {
		return map[string]suites.Results{"released": {"TestA": released}, "patched": {"TestA": patched}}
	}
	failed, passed := suites.Result{State: "failed"}, suites.Result{State: "passed", Reason: "creation took 2s"}
	require.ErrorContains(t, writePeer(folder, "moby", results(failed, failed)), "moby: TestA: the results are failed and failed, for no known reason")
	require.NoError(t, writePeer(folder, "moby", results(failed, passed)))
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Contains(t, string(text), "| TestA | failed | passed: creation took 2s | |\n")
	unsupported := suites.Result{State: "unsupported", Reason: "needs the network"}
	require.NoError(t, writePeer(folder, "moby", results(unsupported, unsupported)))
	text, err = os.ReadFile(file)
	require.NoError(t, err)
	require.Contains(t, string(text), "| TestA | unsupported | unsupported | needs the network |\n")

	require.NoError(t, worseOn("moby", "out", results(failed, passed)))
	require.ErrorContains(t, worseOn("moby", "out", results(passed, failed)), "TestA")
}
