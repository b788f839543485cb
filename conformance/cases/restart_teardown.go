// SPDX-License-Identifier: Apache-2.0

package cases

import (
	"context"

	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

var _ = Restart.has("L8_PodsFromBeforeARestartCanBeEnded", Needs{Restarts: true}, func(t T) {
	for name, end := range map[string]func(Runtime, context.Context) error{
		"killed":  (Runtime).Kill,
		"stopped": (Runtime).Stop,
	} {
		t.Run(name, func(t T) {
			n := t.Runtime()
			p := NewPlugin(t, "10", "returns")
			Connect(t, n, p)
			l := NewLife(t, n, "survivor")

			require.NoError(t, end(n, WithinAMinute(t)))
			RequireClosed(t, p.Closed(), "the end of the plugin's connection")
			require.NoError(t, n.Boot(WithinAMinute(t)))
			Connect(t, n, p)

			synchronized := p.Calls().Only(plugin.Synchronize)
			require.Len(t, synchronized, 2)
			require.Len(t, synchronized[1].Pods, 1)
			require.Equal(t, l.Pod, synchronized[1].Pods[0].GetId())
			l.End(t)
			RequireNothingLeft(t, n)
		})
	}
})
