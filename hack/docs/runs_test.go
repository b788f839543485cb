// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/internal/edit"
)

func TestCommandsOfPullRequestsRunTests(t *testing.T) {
	proofs := []proof{
		{"L1", "TestL1_Knock", "integration/doors/knock_test.go"},
		{"L2", "TestL2_Ring", "integration/bells/ring_test.go"},
		{"L3", "L3_Open", "conformance/cases/open.go"},
		{"", "TestDoor", "door_test.go"},
	}
	proofs = append(proofs, brought(edit.Group{Folder: "patches/doors/bell"}, []proof{
		{"", "TestBell", "patches/doors/bell/files/ring_first/pkg/bell/bell_test.go"},
		{"", "TestBall", "patches/doors/bells/files/ring_first/pkg/bell/bell_test.go"},
	})...)
	for _, c := range []struct{ name, line, problem string }{
		{"one test", "    go test -C integration -run TestL1_ ./doors", ""},
		{"one of each folder", "    RUNTIME=stock go test -C integration -run 'TestL1_|TestL2_' ./doors ./bells", ""},
		{"a case", "    go test -C integration -run 'TestCases/(L3_)' ./cases", ""},
		{"a test that the pull request brings", "    go test -run TestBell ./pkg/bell", ""},
		{"a test of the first folder", "    go test . -run TestDoor", ""},
		{"all tests of a folder, which comes first", "    go test ./pkg/bell", ""},
		{"the pattern comes last", "    go test ./pkg/bell -run TestBell", ""},
		{"the pattern comes last, and matches nothing", "    go test ./pkg/bell -run TestBall",
			"-run \"TestBall\": \"TestBall\" matches no test of ./pkg/bell\n-run \"TestBall\" matches no test of ./pkg/bell"},
		{"no command", "go test -run TestGone ./doors", ""},
		{"a test in another folder", "    go test -C integration -run TestL2_ ./doors",
			"-run \"TestL2_\": \"TestL2_\" matches no test of ./doors\n-run \"TestL2_\" matches no test of ./doors"},
		{"one of two tests is gone", "    go test -C integration -run 'TestL1_|TestL9_' ./doors", `-run "TestL1_|TestL9_": "TestL9_" matches no test of ./doors`},
		{"one of two cases is gone", "    go test -C integration -run 'TestCases/(L3_|L9_)' ./cases", `-run "TestCases/(L3_|L9_)": "TestCases/L9_" matches no test of ./cases`},
		{"a folder too many", "    go test -C integration -run TestL1_ ./doors ./bells", `-run "TestL1_" matches no test of ./bells`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var errs []error
			for _, r := range runsIn("text\n\n" + c.line + "\n") {
				errs = append(errs, r.check(proofs)...)
			}
			if c.problem == "" {
				require.NoError(t, errors.Join(errs...))
				return
			}
			require.EqualError(t, errors.Join(errs...), c.problem)
		})
	}
}
