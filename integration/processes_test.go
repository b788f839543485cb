// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The life of a pod with one container starts no process that has nothing to do.
func TestLifeOfAPodStartsTheProcessesThatItNeeds(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	calls := countCalls(t, n, "bin/runc", "bin/containerd-shim-runc-v2", "cni/bin/ptp", "cni/bin/loopback")
	newLife(t, n, "counted").End(t)

	for call, want := range map[string]struct{ hookline, stock int }{
		"containerd-shim-runc-v2 start":  {1, 1},
		"containerd-shim-runc-v2 delete": {0, 2},
		"runc create":                    {2, 2},
		"runc start":                     {2, 2},
		"runc kill":                      {2, 4},
		"runc delete":                    {2, 4},
		"ptp ADD":                        {1, 1},
		"ptp DEL":                        {1, 2},
		"loopback ADD":                   {0, 1},
		"loopback DEL":                   {0, 2},
	} {
		n := want.hookline
		if runsOnStock {
			n = want.stock
		}
		assert.Equal(t, n, calls.of(t, strings.Fields(call)...), call)
	}
	require.Positive(t, calls.of(t, "runc"))
	requireNothingLeft(t, n)
}
