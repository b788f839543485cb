// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The cost for others is compared with stock, and the memory and goroutines of containerd with
// those before.
func TestFlapGoals(t *testing.T) {
	r := newFlapRows(250)
	r.join.Stock, r.join.Patched = Sample{2}, Sample{2}
	r.pod.Stock, r.pod.Patched = Sample{2}, Sample{2.1}
	r.memory.Stock, r.memory.Patched = Sample{200}, Sample{100}
	r.memoryAfter.Stock, r.memoryAfter.Patched = Sample{300}, Sample{110}
	r.goroutines.Stock, r.goroutines.Patched = Sample{200}, Sample{100}
	r.goroutinesAfter.Stock, r.goroutinesAfter.Patched = Sample{200}, Sample{111}
	met := map[string]bool{}
	for _, row := range r.withGoals() {
		for _, goal := range row.Goals {
			met[row.Name] = goal.Met
		}
	}
	require.Equal(t, map[string]bool{
		"SlowestJoin/plugins=10/pods=250":          true,
		"SlowestRunPodSandbox/flapping=5/pods=250": false,
		"Memory/flapping=after/pods=250":           true,
		"Goroutines/flapping=after/pods=250":       false,
	}, met)
}
