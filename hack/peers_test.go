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
	got, err := readTests(file)
	require.NoError(t, err)
	require.Equal(t, suites.Results{
		"TestA": {State: "passed", Reason: "creation took 2.1s, info took 9ms"}, "TestB": {State: "failed"}, "TestC": {State: "skipped"},
	}, got)

	require.NoError(t, os.WriteFile(file, []byte(`{"Action":"fail","Package":"moby"}`), 0o600))
	_, err = readTests(file)
	require.ErrorContains(t, err, "no test ran")

	require.NoError(t, os.WriteFile(file, []byte("# moby\nmoby_test.go:1:1: expected 'package'\n"), 0o600))
	_, err = readTests(file)
	require.ErrorContains(t, err, "read what the tests printed")
}

func TestWritePeers(t *testing.T) {
	file := filepath.Join(t.TempDir(), "peers.md")
	results := func(released, patched suites.Result) map[string]map[string]suites.Results {
		return map[string]map[string]suites.Results{"moby": {"released": {"TestA": released}, "patched": {"TestA": patched}}}
	}
	failed, passed := suites.Result{State: "failed"}, suites.Result{State: "passed", Reason: "creation took 2s"}
	require.ErrorContains(t, writePeers(file, results(failed, failed)), "moby: TestA came to failed and failed, and no reason is known")
	require.NoError(t, writePeers(file, results(failed, passed)))
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Contains(t, string(text), "| TestA | failed | passed: creation took 2s | |\n")
	unsupported := suites.Result{State: "unsupported", Reason: "needs what it has not"}
	require.NoError(t, writePeers(file, results(unsupported, unsupported)))
	text, err = os.ReadFile(file)
	require.NoError(t, err)
	require.Contains(t, string(text), "| TestA | unsupported | unsupported | needs what it has not |\n")

	require.NoError(t, worseOn("moby", "out", results(failed, passed)["moby"]))
	require.ErrorContains(t, worseOn("moby", "out", results(passed, failed)["moby"]), "TestA")
}
