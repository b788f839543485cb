// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"errors"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"github.com/stretchr/testify/require"
)

// CRI does not load if devices may require plugins and NRI is not usable.
func TestCDIRequiredPluginsIsASetting(t *testing.T) {
	c := DefaultConfig()
	require.False(t, c.requiresPlugins())
	require.NoError(t, toml.Unmarshal([]byte("cdi_required_plugins = true"), c))
	require.True(t, c.requiresPlugins())
	c.Disable = true
	_, err := New(c, nil)
	require.ErrorContains(t, err, "plugins are required, and NRI is disabled")
}

type requires struct{ err error }

func (r requires) GetRequiredPlugins() ([]string, error) { return []string{"driver"}, r.err }

func TestDevicesRequirePluginsBySettingAlone(t *testing.T) {
	bad := errors.New("no list")
	l := &local{cfg: DefaultConfig()}
	ctx, err := l.withRequired(t.Context(), requires{bad})
	require.NoError(t, err)
	require.Equal(t, t.Context(), ctx)

	l.cfg.CDIRequiredPlugins = true
	ctx, err = l.withRequired(t.Context(), requires{})
	require.NoError(t, err)
	require.NotEqual(t, t.Context(), ctx)
	_, err = l.withRequired(t.Context(), requires{bad})
	require.ErrorIs(t, err, bad)
}
