// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/integration/plugin"
)

// A name is of a length that logs, metrics and memory take, or is refused with the reason.
func TestL22_NameOfAPluginIsBounded(t *testing.T) {
	t.Parallel()
	n := startNode(t, operator(noRule))
	long := startProcess(t, n, plugin.Script{Index: "10", Name: strings.Repeat("x", 65)})
	promise(t, "L22", "a name of 65 bytes is refused before Configure, with the reason", onStock("a name has any length"), func(t require.TestingT) {
		requireSoon(t, "an answer", func(context.Context) error {
			if len(long.KeptOut()) == 0 && len(long.Calls()) == 0 {
				return errors.New("it has none")
			}
			return nil
		})
		require.Empty(t, long.Calls().Events(), "it is in")
		require.Contains(t, long.KeptOut()[0], "InvalidArgument")
		require.Contains(t, long.KeptOut()[0], "has 65 bytes, more than 64")
	})
	fits := startProcess(t, n, plugin.Script{Index: "10", Name: strings.Repeat("x", 64)})
	promise(t, "L22", "a name of 64 bytes is taken", keptOnStock, func(t require.TestingT) {
		requireSoon(t, "it to join", func(context.Context) error { return hasAnswered(fits, plugin.Synchronize) })
	})
}

// A peer that tries to register again and again has little logged.
func TestL22_RefusedRegistrationsHaveLittleLogged(t *testing.T) {
	t.Parallel()
	n := startNode(t, operator(noRule))
	ctx := withinAMinute(t)
	before, err := n.Log()
	require.NoError(t, err)
	const tries = 2000
	for range tries {
		require.Error(t, plugin.New("10", "not,valid").Connect(ctx, n.NRISocket()))
	}
	promise(t, "L22", "the log has few lines of it", onStock("it has all"), func(t require.TestingT) {
		log, err := n.Log()
		require.NoError(t, err)
		log = log[len(before):]
		assert.Contains(t, log, "contains invalid character")
		assert.Less(t, strings.Count(log, "\n"), tries/2)
	})
}
