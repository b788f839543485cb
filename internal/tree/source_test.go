// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/internal/edit"
)

// Output of the go command over several lines becomes one line.
func TestNotFound(t *testing.T) {
	s := Source{Module: edit.Module{Name: "m", Path: "example.com/m"}, Version: "v9.9.9"}
	for _, test := range []struct{ said, want string }{
		{
			"example.com/m@v9.9.9: reading https://proxy.example.com/v9.9.9.info: 404 Not Found\n\tserver response: not found",
			"m v9.9.9 cannot be downloaded: reading https://proxy.example.com/v9.9.9.info: 404 Not Found server response: not found: see go list -m -versions example.com/m",
		},
		{
			"go: verifying example.com/m@v9.9.9: checksum mismatch\n\n\tFor more information, see a page.",
			"m v9.9.9 cannot be downloaded: go: verifying example.com/m@v9.9.9: checksum mismatch: see go list -m -versions example.com/m",
		},
	} {
		require.EqualError(t, notFound(s, test.said), test.want)
	}
}
