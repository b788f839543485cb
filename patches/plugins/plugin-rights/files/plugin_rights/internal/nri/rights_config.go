// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"fmt"
	"maps"
	"slices"
)

// looseRights returns why the rights in the settings limit less than they seem to.
func (c *Config) looseRights() (why []string) {
	var limited, open []string
	for _, name := range slices.Sorted(maps.Keys(c.Plugins)) {
		p := c.Plugins[name]
		if len(p.Rights) == 0 {
			continue
		}
		limited = append(limited, name)
		if len(p.AllowedUsers)+len(p.AllowedNamespaces) == 0 {
			open = append(open, name)
		}
	}
	if len(limited) > 0 && len(c.PluginRights) == 0 {
		why = append(why, fmt.Sprintf("rights of NRI plugins %q limit no process that registers under another name: plugin_rights is empty", limited))
	}
	if len(open) > 0 {
		why = append(why, fmt.Sprintf("any process may register as NRI plugins %q and have their rights: set allowed_users or allowed_namespaces", open))
	}
	return why
}
