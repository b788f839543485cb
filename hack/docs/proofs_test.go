// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestProofsAreTestsAndCases(t *testing.T) {
	const file = "conformance/cases/join.go"
	cases, err := proofsIn(file, []byte("package cases\n\nvar _ = Joining.has(\"L2_PodIsDelivered\", Needs{}, func(t T) {\n\tt.Run(\"L3_NoCase\", nil)\n})\n\nfunc TestL4_NoTestHere() {}\n"))
	require.NoError(t, err)
	require.Equal(t, []proof{{"L2", "L2_PodIsDelivered", file}}, cases)
	tests, err := proofsIn("a/b_test.go", []byte("package a\n\nfunc TestL1_Order(t *testing.T) {}\n\nfunc TestOther(t *testing.T) {}\n"))
	require.NoError(t, err)
	require.Equal(t, []proof{{"L1", "TestL1_Order", "a/b_test.go"}, {"", "TestOther", "a/b_test.go"}}, tests)
}
