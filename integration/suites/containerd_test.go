// SPDX-License-Identifier: Apache-2.0

package suites

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPrinted(t *testing.T) {
	file := filepath.Join(t.TempDir(), "output.txt")
	require.NoError(t, os.WriteFile(file, []byte("=== RUN   TestA\n    a_test.go:1: --- what it says\n--- PASS: TestA (0.02s)\n"+
		"--- FAIL: TestB (1.00s)\n    --- SKIP: TestB/part (0.00s)\n    --- PASS: TestB/rest (0.00s)\n"), 0o600))
	got, err := Printed(file)
	require.NoError(t, err)
	require.Equal(t, Results{"TestA": {State: "passed"}, "TestB": {State: "failed"}, "TestB/part": {State: "skipped"}, "TestB/rest": {State: "passed"}}, got)

	require.NoError(t, os.WriteFile(file, []byte("--- SKIP: TestA (0.00s)\n"), 0o600))
	_, err = Printed(file)
	require.ErrorContains(t, err, "no test ran")

	long := "--- PASS: TestA (0.02s)\n" + strings.Repeat("x", 1<<20) + "\n--- FAIL: TestB (1.00s)\n"
	require.NoError(t, os.WriteFile(file, []byte(long), 0o600))
	_, err = Printed(file)
	require.ErrorContains(t, err, "token too long", "later lines are not skipped silently")
}
