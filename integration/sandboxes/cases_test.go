// SPDX-License-Identifier: Apache-2.0

package sandboxes

import (
	"testing"

	"github.com/hookline-nri/hookline/conformance/cases"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/testkit/node"
)

// TestCases runs the cases of the conformance test with pods without a pause container, except those
// about the process of a sandbox.
func TestCases(t *testing.T) {
	t.Parallel()
	for _, profile := range cases.Profiles() {
		for _, c := range profile.Cases() {
			if c.Needs.Sandbox {
				continue
			}
			t.Run(c.Name, func(t *testing.T) {
				t.Parallel()
				c.Run(OnNode{T: t, Needs: c.Needs, Change: func(o *node.Options) { withoutPause(t, o) }})
			})
		}
	}
}
