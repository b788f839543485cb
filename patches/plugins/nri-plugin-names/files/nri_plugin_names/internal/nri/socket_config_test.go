// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSocketMode(t *testing.T) {
	for given, want := range map[string]uint32{"": 0o600, "0600": 0o600, "660": 0o660, "0777": 0o777} {
		mode, err := (&Config{SocketMode: given}).socketMode()
		require.NoError(t, err)
		require.EqualValues(t, want, mode, given)
	}
	for _, wrong := range []string{"0o600", "rw", "8", "01777", "-1"} {
		c := DefaultConfig()
		c.SocketMode = wrong
		require.ErrorContains(t, c.validate(), "must be octal", wrong)
	}
	c := DefaultConfig()
	require.NoError(t, c.validate())
	c.SocketGID = -2
	require.ErrorContains(t, c.validate(), "socket_gid is -2")
}

func TestAllowedNamespacesAreNamed(t *testing.T) {
	c := DefaultConfig()
	c.Plugins["must"] = PluginConfig{AllowedNamespaces: []string{"kube-system", ""}}
	require.ErrorContains(t, c.validate(), "allowed_namespaces has an empty name")
}

func TestNameMetrics(t *testing.T) {
	(&nriMetrics{}).RecordNameRejection("must", "user")
	require.Contains(t, metricsOf(t, "must"), "containerd_nri_plugin_name_rejections_total")
}
