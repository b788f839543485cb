// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
)

// RequireNothingLeft finds only what Leftovers lists: so it must list every part of a pod.
func TestLeftoversAreAllOfAPod(t *testing.T) {
	t.Parallel()
	n := StartNode(t)
	l := NewLife(t, n, "seen")
	left, err := n.Leftovers(WithinAMinute(t))
	require.NoError(t, err)
	var kinds []string
	for _, l := range left {
		kinds = append(kinds, l.Kind)
	}
	slices.Sort(kinds)
	require.Equal(t, []string{
		"CRI container", "CRI pod", "address", "attachment", "bundle", "cgroup", "container folder", "container record",
		"lease", "link", "mount", "network file", "network namespace", "process", "runc state", "sandbox folder",
		"sandbox record", "shim socket", "snapshot",
	}, slices.Compact(kinds), "found:%s", Lines(left))
	l.End(t)
	RequireNothingLeft(t, n)
}
