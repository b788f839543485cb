// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/containerd/nri/pkg/api"

	"github.com/hookline-nri/hookline/internal/nri/lifecycle"
)

// PluginSettings are the operator's settings for the plugins of one name. A plugin cannot
// be trusted to declare them itself.
type PluginSettings struct {
	// RequiredForPods and RequiredForContainers let no pod or container start without
	// the plugin's answer to its RunPodSandbox or CreateContainer.
	RequiredForPods, RequiredForContainers bool
	// ExemptNamespaces are namespaces whose pods and containers may start without the plugin.
	ExemptNamespaces []string
	// ExemptHostNetwork is whether pods on the host's network, and their containers, may
	// start without the plugin. A pod whose namespaces are unknown may not.
	ExemptHostNetwork bool
	// AllowToleration is whether a pod may start without the plugin by the annotation of the
	// default validator that tolerates missing plugins. The author of a pod writes it.
	AllowToleration bool
	// Wait is how long a pod or container waits for the plugin while it is disconnected. Zero
	// is the default.
	Wait time.Duration

	// RequestTimeout and SyncTimeout are the plugin's own timeouts for a request and
	// for Synchronize. Zero stands for the timeouts of all plugins.
	RequestTimeout, SyncTimeout time.Duration
}

// DefaultPluginWait is how long a pod or container waits by default for a plugin
// that it requires and that is disconnected.
const DefaultPluginWait = 10 * time.Second

// WithPluginSettings sets the settings of plugins, by their name: with the index, as
// "10-logger", or for any index without it, as "logger". If both exist for a plugin,
// its timeouts are those of the name with the index.
func WithPluginSettings(settings map[string]PluginSettings) Option {
	return func(r *Adaptation) error {
		for name, s := range settings {
			if min(s.Wait, s.RequestTimeout, s.SyncTimeout) < 0 {
				return fmt.Errorf("settings of plugin %s: times must not be negative", name)
			}
		}
		r.pluginSettings = settings
		r.requiredNames = nil
		for name, s := range settings {
			if s.RequiredForPods || s.RequiredForContainers {
				r.requiredNames = append(r.requiredNames, name)
			}
		}
		slices.Sort(r.requiredNames)
		return nil
	}
}

// settingsOf returns the settings of a name, with its index or without.
func (r *Adaptation) settingsOf(name string) PluginSettings {
	if s, ok := r.pluginSettings[name]; ok {
		return s
	}
	index, base, _ := strings.Cut(name, "-")
	if api.CheckPluginIndex(index) != nil {
		return PluginSettings{}
	}
	return r.pluginSettings[base]
}

// requestTimeout is how long the plugin may take for a request.
func (p *plugin) requestTimeout() time.Duration {
	return cmp.Or(p.r.settingsOf(p.name()).RequestTimeout, getPluginRequestTimeout())
}

// Timeouts are the timeouts that are set for the plugin's name.
func (c connection) Timeouts() lifecycle.Timeouts {
	s := c.r.settingsOf(c.name())
	return lifecycle.Timeouts{Request: s.RequestTimeout, Sync: s.SyncTimeout}
}
