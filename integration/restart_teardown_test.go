// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/integration/node"
	"github.com/hookline-nri/hookline/integration/plugin"
)

func TestL8_PodsOfBeforeARestartCanBeEnded(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*node.Node, context.Context) error{
		"killed":  (*node.Node).Kill,
		"stopped": (*node.Node).Stop,
	} {
		t.Run(name, func(t *testing.T) {
			n := startNode(t)
			p := plugin.New("10", "returns")
			connect(t, n, p)
			l := newLife(t, n, "survivor")

			require.NoError(t, end(n, withinAMinute(t)))
			requireClosed(t, p.Closed(), "the end of the plugin's connection")
			require.NoError(t, n.Boot(withinAMinute(t)))
			connect(t, n, p)

			synchronized := p.Calls().Only(plugin.Synchronize)
			require.Len(t, synchronized, 2)
			require.Len(t, synchronized[1].Pods, 1)
			require.Equal(t, l.pod, synchronized[1].Pods[0].GetId())
			l.end(t)
			requireNothingLeft(t, n)
		})
	}
}
