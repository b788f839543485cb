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

// A name is of a length that logs, metrics and memory take, or is rejected with the reason.
func TestL22_NameOfAPluginIsBounded(t *testing.T) {
	t.Parallel()
	n := StartNode(t, WithConfig(NoRule))
	long := StartProcess(t, n, plugin.Script{Index: "10", Name: strings.Repeat("x", 65)})
	Promise(t, "L22", "a name of 65 bytes is rejected before Configure, with the reason", OnStock("a name has any length"), func(t require.TestingT) {
		RequireSoon(t, "an answer", func(context.Context) error {
			if len(long.KeptOut()) == 0 && len(long.Calls()) == 0 {
				return errors.New("it has none")
			}
			return nil
		})
		require.Empty(t, long.Calls().Events(), "it is in")
		require.Contains(t, long.KeptOut()[0], "InvalidArgument")
		require.Contains(t, long.KeptOut()[0], "has 65 bytes, more than 64")
	})
	fits := StartProcess(t, n, plugin.Script{Index: "10", Name: strings.Repeat("x", 64)})
	Promise(t, "L22", "a name of 64 bytes is taken", KeptOnStock, func(t require.TestingT) {
		RequireSoon(t, "it to join", func(context.Context) error { return HasAnswered(fits, plugin.Synchronize) })
	})
}

// Names that come and go leave a page of metrics that is bounded, and what plugins are counted for
// is counted whatever their name.
func TestL22_NamesThatComeAndGoLeaveFewMetrics(t *testing.T) {
	t.Parallel()
	n := StartNode(t, WithConfig(NoRule))
	ctx := WithinAMinute(t)
	first := plugin.New("00", "first")
	Connect(t, n, first)
	const names = 100
	for i := range names {
		p := plugin.New("10", fmt.Sprint("name", i))
		RequireSoon(t, "it to join", func(ctx context.Context) error { return p.Connect(ctx, n.NRISocket()) }) // the last may still be leaving
		p.Crash()
	}
	Promise(t, "L22", "64 names have series of their own, and all others one", OnStock("each name keeps its series"), func(t require.TestingT) {
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

// A peer that tries to register again and again has little logged.
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
	Promise(t, "L22", "the log has few lines of it", OnStock("it has all"), func(t require.TestingT) {
		log, err := n.Log()
		require.NoError(t, err)
		log = log[len(before):]
		assert.Contains(t, log, "contains invalid character")
		assert.Less(t, strings.Count(log, "\n"), tries/2)
	})
}
