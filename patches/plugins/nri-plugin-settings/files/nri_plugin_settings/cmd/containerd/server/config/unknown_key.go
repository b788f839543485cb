// SPDX-License-Identifier: Apache-2.0

package config

import (
	"context"
	"strings"

	"github.com/containerd/log"
	"github.com/pelletier/go-toml/v2"
)

// keysMatter is implemented by the configuration of a plugin whose keys must not be mistyped: each
// of them may limit what others do.
type keysMatter interface{ KeysMatter() }

// logUnknownKey logs a key that the configuration of a plugin does not have, and that has no
// effect.
func logUnknownKey(ctx context.Context, plugin string, config any, unknown toml.DecodeError) {
	entry := log.G(ctx).WithFields(log.Fields{
		"plugin": plugin,
		"key":    strings.Join(unknown.Key(), "."),
	})
	if _, matters := config.(keysMatter); matters {
		entry.Error("unknown key in TOML for plugin, which has no effect")
		return
	}
	entry.WithError(&unknown).Warn("Ignoring unknown key in TOML for plugin")
}
