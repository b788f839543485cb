// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// The page has the rules that the program knows, and the version that reports name.
func TestRulesMatchThePage(t *testing.T) {
	page, err := os.ReadFile("../docs/contract.md")
	require.NoError(t, err)
	require.Contains(t, string(page), "This is version "+contractVersion+" of the contract.")
	var stated []string
	for _, rule := range regexp.MustCompile(`(?m)^### ([A-Z]\d+) `).FindAllSubmatch(page, -1) {
		stated = append(stated, string(rule[1]))
	}
	require.Equal(t, rules(), stated)
}
