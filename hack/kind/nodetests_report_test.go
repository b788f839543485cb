// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Tests that failed on one of the two are named, with their result on the other.
func TestNodeTestsInOneTable(t *testing.T) {
	read := func(cases string) []Spec {
		file := filepath.Join(t.TempDir(), "junit.xml")
		text := `<testsuites><testsuite><testcase name="[SynchronizedBeforeSuite]" status="passed"/>` + cases + `</testsuite></testsuites>`
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		specs, err := readSpecs(file)
		require.NoError(t, err)
		return specs
	}
	built := read(`<testcase name="[It] a" status="passed"/><testcase name="[It] b" status="failed"/><testcase name="[It] c" status="passed"/>`)
	stock := read(`<testcase name="[It] a" status="passed"/><testcase name="[It] b" status="skipped"/><testcase name="[It] c" status="failed"/>`)
	var table strings.Builder
	require.NoError(t, WriteNodeTests(&table, built, stock))
	require.Equal(t, `| test | hookline | stock |
|---|---|---|
| passed | 2 | 1 |
| failed | 1 | 1 |
| cut by the limit | 0 | 0 |
| b | failed | skipped |
| c | passed | failed |
`, table.String())

	_, err := readSpecs(filepath.Join(t.TempDir(), "none"))
	require.ErrorIs(t, err, os.ErrNotExist)
}
