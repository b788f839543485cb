// SPDX-License-Identifier: Apache-2.0

package cases

import (
	"testing"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
)

// TestCases runs the cases of the conformance test, each on nodes of its own.
func TestCases(t *testing.T) {
	t.Parallel()
	RunCases(t, func(Needs) bool { return true })
}
