// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"errors"
	"strings"
	"testing"
	"time"

	nri "github.com/containerd/nri/pkg/adaptation"
	"github.com/pelletier/go-toml/v2"
	"github.com/stretchr/testify/require"
)

// The table of plugins as an operator writes it.
func TestPluginSettings(t *testing.T) {
	c := DefaultConfig()
	require.NotNil(t, c.Plugins, "the default configuration must show the table")
	require.NoError(t, toml.NewDecoder(strings.NewReader(`
[plugins.net]
required_for = ["pods", "containers"]
exempt_namespaces = ["net-system"]
wait = "20s"
[plugins."10-slow"]
request_timeout = "10s"
sync_timeout = "1m"
`)).DisallowUnknownFields().Decode(c))
	require.NoError(t, c.validate())
	require.True(t, c.requiresPlugins())
	require.Equal(t, map[string]nri.PluginSettings{
		"net":     {RequiredForPods: true, RequiredForContainers: true, ExemptNamespaces: []string{"net-system"}, Wait: 20 * time.Second},
		"10-slow": {RequestTimeout: 10 * time.Second, SyncTimeout: time.Minute},
	}, c.pluginSettings())
}

func TestInvalidPluginSettings(t *testing.T) {
	for text, want := range map[string]string{
		"[plugins.net]\nrequired_for = ['pod']":                             `plugins."net": required_for has "pod"`,
		"[plugins.net]\nexempt_namespaces = ['']":                           `plugins."net": exempt_namespaces has an empty name`,
		"[plugins.net]\nwait = '-1s'":                                       `plugins."net": wait is -1s: must not be negative`,
		"[plugins.net]\nrequest_timeout = '3m'":                             `plugins."net": request_timeout is 3m0s: must not be longer than plugin_timeout_ceiling, 2m0s`,
		"plugin_timeout_ceiling = '1s'\n[plugins.net]\nsync_timeout = '2s'": "longer than plugin_timeout_ceiling, 1s",
		"plugin_timeout_ceiling = '-1s'":                                    "plugin_timeout_ceiling is -1s: must not be negative",
		"[plugins.'a b']":                                                   `plugins."a b": invalid plugin name`,
	} {
		c := DefaultConfig()
		require.NoError(t, toml.Unmarshal([]byte(text), c))
		_, err := New(c, nil)
		require.ErrorContains(t, err, want)
	}
}

// If plugins are required, a node without NRI creates no pods.
func TestRequiredPluginsNeedNRI(t *testing.T) {
	lost := errors.New("lost")
	c := DefaultConfig()
	require.NoError(t, c.Failure(nil))
	require.Equal(t, lost, c.Failure(lost))
	c.Plugins["net"] = PluginConfig{RequiredFor: []string{forPods}}
	require.NoError(t, c.Failure(nil))
	require.ErrorIs(t, c.Failure(lost), lost)
	require.ErrorIs(t, c.Failure(lost), ErrRequiredPlugins)
	c.Disable = true
	_, err := New(c, nil)
	require.ErrorContains(t, err, "plugins are required, and NRI is disabled")
}
