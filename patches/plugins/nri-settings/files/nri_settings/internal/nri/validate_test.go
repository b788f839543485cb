// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/containerd/containerd/v2/internal/tomlext"
)

func TestValidate(t *testing.T) {
	require.NoError(t, DefaultConfig().validate())
	require.NoError(t, (&Config{}).validate(), "settings that are not set have a default")

	for setting, spoil := range map[string]func(*Config, tomlext.Duration){
		"plugin_registration_timeout": func(c *Config, d tomlext.Duration) { c.PluginRegistrationTimeout = d },
		"plugin_request_timeout":      func(c *Config, d tomlext.Duration) { c.PluginRequestTimeout = d },
		"plugin_sync_timeout":         func(c *Config, d tomlext.Duration) { c.PluginSyncTimeout = d },
		"plugin_teardown_wait":        func(c *Config, d tomlext.Duration) { c.PluginTeardownWait = d },
		"plugin_overdue_limit":        func(c *Config, d tomlext.Duration) { c.PluginOverdueLimit = d },
		"plugin_backlog_bytes":        func(c *Config, _ tomlext.Duration) { c.PluginBacklogBytes = -1 },
		"plugin_backlog_limit":        func(c *Config, _ tomlext.Duration) { c.PluginBacklogLimit = -1 },
	} {
		t.Run(setting, func(t *testing.T) {
			c := DefaultConfig()
			spoil(c, tomlext.FromStdTime(-time.Second))
			_, err := New(c, nil)
			require.ErrorContains(t, err, setting)
		})
	}
}
