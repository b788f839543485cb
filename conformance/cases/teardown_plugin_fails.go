// SPDX-License-Identifier: Apache-2.0

package cases

import (
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// Only one plugin is connected, so that the case tests only its failure.
var _ = Teardown.has("L8_StopGoesOnIfAPluginFails", Needs{}, func(t T) {
	n := t.Runtime()
	p := NewPlugin(t, "10", "fails")
	Connect(t, n, p)
	l := NewLife(t, n, "ended")
	for _, event := range EveryEnd {
		p.On(event, plugin.Fail("no more "+string(event)))
	}
	l.End(t)
	require.Equal(t, EveryEnd, p.Calls().Of(l.Pod).Only(EveryEnd...).Events())
	RequireNothingLeft(t, n)
})
