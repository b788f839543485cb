// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRightsAreChecked(t *testing.T) {
	c := DefaultConfig()
	c.PluginRights = []string{"none"}
	c.Plugins = map[string]PluginConfig{"device-injector": {Rights: []string{"events.CreateContainer", "adjust.linux"}}}
	require.NoError(t, c.validate())

	c.PluginRights = []string{"nothing"}
	c.Plugins["logger"] = PluginConfig{Rights: []string{"RunPodSandbox"}}
	err := c.validate()
	require.ErrorContains(t, err, `plugin_rights: "nothing" is no right`)
	require.ErrorContains(t, err, `plugins."logger": rights: "RunPodSandbox" is no right`)
}

func TestRightsOfAPluginAreHandedOver(t *testing.T) {
	c := DefaultConfig()
	require.Empty(t, c.PluginRights)
	c.Plugins = map[string]PluginConfig{"logger": {Rights: []string{"events"}}}
	require.Equal(t, []string{"events"}, c.pluginSettings()["logger"].Rights)
}
