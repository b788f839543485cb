// SPDX-License-Identifier: Apache-2.0

package cases

import (
	"testing"

	"github.com/hookline-nri/hookline/conformance/cases"
	. "github.com/hookline-nri/hookline/integration/fixture"
)

// TestCases runs the cases of the conformance test, each on nodes of its own.
func TestCases(t *testing.T) {
	t.Parallel()
	for _, profile := range cases.Profiles() {
		for _, c := range profile.Cases() {
			t.Run(c.Name, func(t *testing.T) {
				t.Parallel()
				c.Run(OnNode{T: t, Needs: c.Needs})
			})
		}
	}
}
