// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// In six turns three runtimes take each order once.
func TestInTurn(t *testing.T) {
	row, orders := &Row{}, map[string]bool{}
	all := make([]entrant, 3)
	samples := []*Sample{&row.Stock, &row.Patched, &row.Peer}
	for i := range all {
		all[i].of = func(*Row) *Sample { return samples[i] }
	}
	for turn := range 6 {
		order := ""
		require.NoError(t, inTurn(all, turn, func(e entrant) error {
			order += string(rune('0' + slices.Index(samples, e.of(row))))
			return nil
		}))
		require.Len(t, order, 3)
		orders[order] = true
	}
	require.Len(t, orders, 6)
}
