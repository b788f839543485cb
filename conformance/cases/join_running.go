// SPDX-License-Identifier: Apache-2.0

package cases

import (
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/testkit/history"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

var _ = Joining.has("L2_JoiningPluginReceivesRunningPods", Needs{}, func(t T) {
	n := t.Runtime()
	l := NewLife(t, n, "running")
	p := NewPlugin(t, "10", "joins")
	Connect(t, n, p)
	synchronized := p.Calls().Only(plugin.Synchronize)
	require.Len(t, synchronized, 1)
	require.Len(t, synchronized[0].Pods, 1)
	assert.Equal(t, l.Pod, synchronized[0].Pods[0].GetId())
	require.Len(t, synchronized[0].Containers, 1)
	assert.Equal(t, l.Container, synchronized[0].Containers[0].GetId())
	l.End(t)
	assert.Equal(t, EveryEnd, p.Calls().Of(l.Pod).Events())
	reading := history.Read(p.Calls(), nil)
	assert.Empty(t, reading.Faults())
	assert.Empty(t, reading.Alive())
	RequireNothingLeft(t, n)
})
