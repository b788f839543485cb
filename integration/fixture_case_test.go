// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/conformance/fixture"
)

// onNode runs a case as a test.
type onNode struct {
	*testing.T
	needs fixture.Needs
}

func (t onNode) Run(name string, part func(fixture.T)) bool {
	t.Helper()
	return t.T.Run(name, func(inner *testing.T) { part(onNode{inner, t.needs}) })
}

// Runtime starts a node.
func (t onNode) Runtime() fixture.Runtime {
	t.Helper()
	return startNode(t.T, withNeeds(t.needs))
}

func (t onNode) Promise(rule, holds string, stock fixture.Breach, assertions func(require.TestingT)) {
	t.Helper()
	promise(t.T, rule, holds, stock, assertions)
}

func (t onNode) Words(rule, holds string, stock fixture.Breach, assertions func(require.TestingT)) {
	t.Helper()
	t.Promise(rule, holds, stock, assertions)
}
