// SPDX-License-Identifier: Apache-2.0

package sandboxes

import (
	"testing"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
)

// TestCases runs the cases of the conformance test with pods without a pause container, except those
// about the process of a sandbox.
func TestCases(t *testing.T) {
	t.Parallel()
	skipOnStock(t)
	RunCases(t, func(needs Needs) bool { return !needs.Sandbox }, withoutPause)
}
