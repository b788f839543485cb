// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"testing"

	"github.com/pelletier/go-toml/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	nri "github.com/containerd/nri/pkg/adaptation"
)

// A plugin that registers takes over, unless the settings of its name allow duplicates.
func TestDuplicatesOfASetting(t *testing.T) {
	c := DefaultConfig()
	require.NoError(t, toml.Unmarshal([]byte("[plugins.logger]\nallow_duplicates = true\n[plugins.other]\nwait = '1s'\n"), c))
	settings := c.pluginSettings()
	assert.True(t, settings["logger"].AllowDuplicates)
	assert.False(t, settings["other"].AllowDuplicates)
	assert.Empty(t, c.validatePlugins())
}

func TestStatusOfASuccessor(t *testing.T) {
	assert.True(t, pluginStatus(nri.PluginStatus{Name: "10-logger", TakesOver: true}).TakesOver)
	assert.False(t, pluginStatus(nri.PluginStatus{Name: "10-logger"}).TakesOver)
}
