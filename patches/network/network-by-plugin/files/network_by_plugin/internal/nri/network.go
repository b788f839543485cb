// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/containerd/nri/pkg/api"
)

// nameNetwork has NetworkReady depend on the plugin that gives pods their network. Pods that name it require it.
// With its index it has the settings of its name alone, if it has none of its own.
func (c *Config) nameNetwork() {
	if c.Network == "" {
		return
	}
	p, own := c.Plugins[c.Network]
	if !own {
		p = c.Plugins[baseName(c.Network)]
	}
	p.GatesNetwork, p.givesNetwork = true, true
	plugins := maps.Clone(c.Plugins)
	if plugins == nil {
		plugins = map[string]PluginConfig{}
	}
	plugins[c.Network] = p
	c.Plugins = plugins
}

// baseName returns the name of a plugin without its index, if it has one.
func baseName(name string) string {
	if index, base, indexed := strings.Cut(name, "-"); indexed && api.CheckPluginIndex(index) == nil {
		return base
	}
	return name
}

// validateNetwork returns the errors in the setting of the plugin that gives pods their network.
func (c *Config) validateNetwork() (errs []error) {
	if c.Network == "" {
		return nil
	}
	if err := api.CheckPluginName(c.Network); err != nil {
		errs = append(errs, fmt.Errorf("network is %q: %w", c.Network, err))
	}
	if len(c.Plugins[c.Network].ExemptNamespaces) > 0 {
		errs = append(errs, fmt.Errorf("plugins.%q has exempt_namespaces: their pods would have no network", c.Network))
	}
	for _, name := range slices.Sorted(maps.Keys(c.Plugins)) {
		if name != c.Network && baseName(name) == c.Network {
			errs = append(errs, fmt.Errorf("network is %q, which has settings as plugins.%q, too: write the same name", c.Network, name))
		}
	}
	return errs
}

// NetworkPlugin implements API.
func (l *local) NetworkPlugin() string {
	if !l.IsEnabled() {
		return ""
	}
	return l.cfg.Network
}
