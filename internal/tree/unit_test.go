// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

// Packages and whole tests are counted; the output of those that fail is kept.
func TestCount(t *testing.T) {
	stream := `
{"Action":"start","Package":"m/a"}
{"Action":"run","Package":"m/a","Test":"TestA"}
{"Action":"pass","Package":"m/a","Test":"TestA"}
{"Action":"output","Package":"m/a","Output":"ok  \tm/a\t(cached)\n"}
{"Action":"pass","Package":"m/a"}
{"Action":"pass","Package":"m/b"}
{"Action":"skip","Package":"m/c"}
{"Action":"output","Package":"m/d","Test":"TestC","Output":"=== RUN   TestC\n"}
{"Action":"output","Package":"m/d","Test":"TestC/part","Output":"c_test.go:3: well\n"}
{"Action":"pass","Package":"m/d","Test":"TestC/part"}
{"Action":"pass","Package":"m/d","Test":"TestC"}
{"Action":"skip","Package":"m/d","Test":"TestB"}
{"Action":"output","Package":"m/d","Test":"TestD","Output":"d_test.go:7: no\n"}
{"Action":"output","Package":"m/d","Test":"TestD/part","Output":"d_test.go:9: no part\n"}
{"Action":"fail","Package":"m/d","Test":"TestD"}
{"Action":"fail","Package":"m/d"}
{"Action":"build-output","ImportPath":"m/e [m/e.test]","Output":"e.go:3: undefined\n"}
{"Action":"build-fail","ImportPath":"m/e [m/e.test]"}
{"Action":"fail","Package":"m/e","FailedBuild":"m/e [m/e.test]"}
`
	var got Tests
	require.NoError(t, got.count(strings.NewReader(stream)))
	want := Tests{
		Passed: 2, Cached: 1, Failed: 2, Untested: 1, Ran: 2, Skipped: 1,
		Output: "d_test.go:7: no\nd_test.go:9: no part\ne.go:3: undefined\n",
		failed: map[string][]string{"m/d": {"TestD"}},
	}
	require.Empty(t, cmp.Diff(want, got, cmp.AllowUnexported(Tests{})))

	require.Error(t, got.count(strings.NewReader("no json")))
}
