// SPDX-License-Identifier: Apache-2.0

package plugins

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// A name that is too long for logs, metrics and memory is rejected, with the reason.
func TestL22_NameOfAPluginIsBounded(t *testing.T) {
	t.Parallel()
	n := StartNode(t, WithConfig(NoRule))
	long := StartProcess(t, n, plugin.Script{Index: "10", Name: strings.Repeat("x", 65)})
	Promise(t, "L22", "a name of 65 bytes is rejected before Configure, with the reason", OnStock("names have no limit"), func(t require.TestingT) {
		RequireSoon(t, "an answer", func(context.Context) error {
			if len(long.KeptOut()) == 0 && len(long.Calls()) == 0 {
				return errors.New("it has none")
			}
			return nil
		})
		require.Empty(t, long.Calls().Events(), "it received events")
		require.Contains(t, long.KeptOut()[0], "InvalidArgument")
		require.Contains(t, long.KeptOut()[0], "has 65 bytes, more than 64")
	})
	fits := StartProcess(t, n, plugin.Script{Index: "10", Name: strings.Repeat("x", 64)})
	Promise(t, "L22", "a name of 64 bytes is accepted", KeptOnStock, func(t require.TestingT) {
		RequireSoon(t, "it to join", func(context.Context) error { return HasAnswered(fits, plugin.Synchronize) })
	})
}

// Plugins that connect under ever new names do not grow the metrics without bound, and events are
// counted for every plugin, whatever its name.
func TestL22_NamesThatComeAndGoLeaveFewMetrics(t *testing.T) {
	t.Parallel()
	n := StartNode(t, WithConfig(NoRule))
	ctx := WithinAMinute(t)
	first := plugin.New("00", "first")
	Connect(t, n, first)
	const names = 100
	for i := range names {
		p := plugin.New("10", fmt.Sprint("name", i))
		RequireSoon(t, "it to join", func(ctx context.Context) error { return p.Connect(ctx, n.NRISocket()) }) // the previous one may still be disconnecting
		p.Crash()
	}
	Promise(t, "L22", "64 names have series of their own, and all others share one", OnStock("each name keeps its series"), func(t require.TestingT) {
		seen := map[string]bool{}
		RequireSoon(t, "all to be counted", func(context.Context) error {
			calls, err := n.Metrics(ctx, "containerd_nri_plugin_invocations_total")
			sum := 0.0
			for labels, value := range calls {
				if strings.Contains(labels, `operation="Synchronize"`) {
					seen[pluginLabel.FindString(labels)] = true
					sum += value
				}
			}
			if err == nil && sum < names+1 {
				err = fmt.Errorf("%v calls are counted", sum)
			}
			return err
		})
		assert.Equal(t, 65, len(seen))
		assert.True(t, seen[`plugin="00-first"`])
		assert.True(t, seen[`plugin="other"`])
	})
}

var pluginLabel = regexp.MustCompile(`plugin="[^"]*"`)

// A peer that tries to register again and again causes few log lines.
func TestL22_RejectedRegistrationsHaveLittleLogged(t *testing.T) {
	t.Parallel()
	n := StartNode(t, WithConfig(NoRule))
	ctx := WithinAMinute(t)
	before, err := n.Log()
	require.NoError(t, err)
	const tries = 2000
	for range tries {
		require.Error(t, plugin.New("10", "not,valid").Connect(ctx, n.NRISocket()))
	}
	Promise(t, "L22", "the log has few lines about it", OnStock("it has a line for each try"), func(t require.TestingT) {
		log, err := n.Log()
		require.NoError(t, err)
		log = log[len(before):]
		assert.Contains(t, log, "contains invalid character")
		assert.Less(t, strings.Count(log, "\n"), tries/2)
	})
}
