// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"testing"

	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
)

// OnNode runs a case as a test.
type OnNode struct {
	*testing.T
	Needs Needs
}

// Run runs a part of the case as a subtest.
func (t OnNode) Run(name string, part func(T)) bool {
	t.Helper()
	return t.T.Run(name, func(inner *testing.T) { part(OnNode{inner, t.Needs}) })
}

// Runtime starts a node.
func (t OnNode) Runtime() Runtime {
	t.Helper()
	return StartNode(t.T, WithNeeds(t.Needs))
}

// Promise asserts what a rule says, as Promise of this package does.
func (t OnNode) Promise(rule, holds string, stock Breach, assertions func(require.TestingT)) {
	t.Helper()
	Promise(t.T, rule, holds, stock, assertions)
}

// Words asserts what is hookline's own, as if a rule said it.
func (t OnNode) Words(rule, holds string, stock Breach, assertions func(require.TestingT)) {
	t.Helper()
	t.Promise(rule, holds, stock, assertions)
}
