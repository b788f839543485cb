// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/integration/suites"
)

func TestPluginGains(t *testing.T) {
	hookline := suites.Results{
		"TestPlugins": {State: "passed"}, "TestPlugins/b": {State: "passed"}, "TestPlugins/b/a_pod_starts": {State: "passed"}, "TestPlugins/b/a_pod_ends": {State: "passed"},
		"TestPlugins/a_1": {State: "passed"}, "TestPlugins/a_1/a_pod_ends": {State: "passed"}, "TestPlugins/c/a_pod_starts": {State: "passed"},
	}
	stock := suites.Results{
		"TestPlugins": {State: "failed"}, "TestPlugins/b": {State: "failed"}, "TestPlugins/b/a_pod_starts": {State: "passed"}, "TestPlugins/b/a_pod_ends": {State: "failed"},
		"TestPlugins/a_1": {State: "failed"}, "TestPlugins/c/a_pod_starts": {State: "passed"},
	}
	require.Equal(t, []gain{
		{plugins: []string{"a 1", "b"}, sentences: []string{"a pod ends"}},
		{plugins: []string{"c"}},
	}, gains(verdictsOf(stock), verdictsOf(hookline)))
	require.NoError(t, allPass(hookline))
	require.ErrorContains(t, allPass(stock), "TestPlugins/b/a_pod_ends")
}
