// SPDX-License-Identifier: Apache-2.0

package config

import (
	"bytes"
	"context"
	"testing"

	"github.com/containerd/log"
	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/require"
)

type usual struct {
	Known   string `toml:"known"`
	Plugins map[string]struct {
		RequiredFor string `toml:"required_for"`
	} `toml:"plugins"`
}

type mattering struct{ usual }

func (*mattering) KeysMatter() {}

func TestUnknownKeysAreLogged(t *testing.T) {
	c := &Config{Plugins: map[string]any{"id": map[string]any{"known": "yes", "plugins": map[string]any{"must": map[string]any{"requird_for": "pods"}}}}}
	decoded := func(into any) string {
		var out bytes.Buffer
		logger := logrus.New()
		logger.Out = &out
		_, err := c.Decode(log.WithLogger(context.Background(), logrus.NewEntry(logger)), "id", into)
		require.NoError(t, err)
		return out.String()
	}
	config := &usual{}
	text := decoded(config)
	require.Contains(t, text, "level=warning")
	require.Contains(t, text, "Ignoring unknown key")
	require.Equal(t, "yes", config.Known)

	text = decoded(&mattering{})
	require.Contains(t, text, "level=error")
	require.Contains(t, text, "plugins.must.requird_for")
	require.Contains(t, text, "plugin=id")
}
