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
	c.Plugins["logger"] = PluginConfig{Rights: []string{"events", "RunPodSandbox"}}
	err := c.validate()
	require.ErrorContains(t, err, `plugin_rights: "nothing" is no right`)
	require.ErrorContains(t, err, `plugins."logger": rights: "RunPodSandbox" is no right`)
}

func TestRightsThatDoNotLimitAreNamed(t *testing.T) {
	c := DefaultConfig()
	require.Empty(t, c.looseRights())
	c.Plugins = map[string]PluginConfig{"logger": {Rights: []string{"events"}}, "slow": {}}
	loose := c.looseRights()
	require.Len(t, loose, 2)
	require.Contains(t, loose[0], "plugin_rights is empty")
	require.Contains(t, loose[1], `"logger"`)

	c.PluginRights = []string{"none"}
	c.Plugins["logger"] = PluginConfig{Rights: []string{"events"}, AllowedUsers: []uint32{0}}
	require.Empty(t, c.looseRights())
}

func TestRightsOfAPluginAreHandedOver(t *testing.T) {
	c := DefaultConfig()
	require.Empty(t, c.PluginRights)
	c.Plugins = map[string]PluginConfig{"logger": {Rights: []string{"events"}}}
	require.Equal(t, []string{"events"}, c.pluginSettings()["logger"].Rights)
}
