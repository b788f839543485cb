// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// A plugin belongs to one case, and to one part and run of it.
func TestPluginBelongsToOneCase(t *testing.T) {
	known := &plugins{of: map[string]string{}}
	var names []string
	play := func(name string, make func(fixture.TB) *plugin.Plugin) *run {
		r := &run{name: name, plugins: known, clean: func() {}}
		lead(t.Context(), r, name, "", func(c fixture.T) {
			for _, part := range []string{"one", "two"} {
				c.Run(part, func(c fixture.T) {
					p := make(c)
					names = append(names, p.Name())
					fixture.Watch(c, p)
					fixture.Watch(c, p)
				})
			}
		})
		return r
	}
	own := func(c fixture.TB) *plugin.Plugin { return fixture.NewPlugin(c, "10", "a") }
	require.Empty(t, play("run 1 of A", own).fault)
	require.Empty(t, play("run 2 of A", own).fault)
	require.Len(t, names, 4)
	for i, name := range names {
		require.Contains(t, name, "10-a-")
		require.NotContains(t, names[:i], name)
	}

	same := func(fixture.TB) *plugin.Plugin { return plugin.New("10", "same") }
	require.Empty(t, play("run 1 of A", same).fault)
	require.Equal(t, "plugin 10-same also belongs to run 1 of A", play("run 1 of B", same).fault)
}
