// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// A pod without an announcement, by field or annotation, is unchanged.
func TestR1_PodWithoutAnnouncementIsUnchanged(t *testing.T) {
	t.Parallel()
	n := StartNode(t)
	p := plugin.New("10", "sums")
	Connect(t, n, p)
	l := NewLife(t, n, "web")
	assert.Empty(t, Inspectp(t, n, l.Pod))
	for _, metric := range []string{resourcesIgnored, resourcesDiffer} {
		counted, err := n.Metrics(WithinAMinute(t), metric)
		require.NoError(t, err)
		assert.Empty(t, counted, metric)
	}
	after := joinAfterKill(t, n)
	l.End(t)

	assert.Equal(t, []string{"absent"}, SumsDelivered(after, plugin.Synchronize))
	for _, call := range append(p.Calls().Of(l.Pod), after.Calls().Of(l.Pod)...) {
		assert.Equal(t, "absent", SumOf(call.Pod), call.Event)
		assert.Equal(t, "absent", CPUOf(call.Container), call.Event)
	}
	log, err := n.Log()
	require.NoError(t, err)
	assert.Zero(t, strings.Count(log, ignoringResources))
	assert.Zero(t, strings.Count(log, differsFrom))
}
