// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestUncited(t *testing.T) {
	for was, is := range map[string]string{
		"// sent once (L11).":                           "// sent once.",
		"// sent once (L1, L3) and not\n// again (L4).": "// sent once and not\n// again.",
		"// sent once\n\t// (L11): not again":           "// sent once:\n\t// not again",
		"// sent once\n// (L11).":                       "// sent once.",
		"// sent once\n// (L11).\n// Not again.":        "// sent once.\n// Not again.",
		"// is\n//\n//   - L8, L9 Teardown is in all\n": "// is\n//\n//   - Teardown is in all\n",
		"// uses the L2 cache":                          "// uses the L2 cache",
	} {
		require.Equal(t, is, uncited(was))
	}
}
