// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	nri "github.com/containerd/nri/pkg/adaptation"
	"github.com/containerd/nri/pkg/api"

	"github.com/containerd/containerd/v2/internal/tomlext"
)

// PluginConfig has the operator's settings of the plugins of one name.
type PluginConfig struct {
	// RequiredFor is a list of "pods", "containers" or both: these start only with the
	// plugin's answer.
	RequiredFor []string `toml:"required_for" json:"requiredFor"`
	// ExemptNamespaces is the namespaces whose pods and containers may start without the
	// plugin, such as the namespace of the plugin's own pods.
	ExemptNamespaces []string `toml:"exempt_namespaces" json:"exemptNamespaces"`
	// AllowToleration is whether a pod with the annotation that
	// default_validator.tolerate_missing_plugins_annotation names starts without the plugin.
	// The author of a pod writes its annotations.
	AllowToleration bool `toml:"allow_toleration" json:"allowToleration"`
	// Wait is how long a pod or container waits for the disconnected plugin before it is
	// rejected. Zero stands for ten seconds.
	Wait tomlext.Duration `toml:"wait" json:"wait"`

	// RequestTimeout is how long the plugin may take to answer a request. Zero stands for
	// plugin_request_timeout.
	RequestTimeout tomlext.Duration `toml:"request_timeout" json:"requestTimeout"`
	// SyncTimeout is how long the plugin may take to answer Synchronize. Zero stands for
	// plugin_sync_timeout.
	SyncTimeout tomlext.Duration `toml:"sync_timeout" json:"syncTimeout"`
}

// The values of required_for.
const (
	forPods       = "pods"
	forContainers = "containers"
)

// defaultTimeoutCeiling is how long the kubelet waits for most requests by default.
const defaultTimeoutCeiling = 2 * time.Minute

// ErrRequiredPlugins says that pods must not be created, because plugins are required and
// NRI cannot be used.
var ErrRequiredPlugins = errors.New("NRI plugins are required, and NRI cannot be used")

// Failure marks the error of New as ErrRequiredPlugins if the settings require plugins.
func (c *Config) Failure(err error) error {
	if err == nil || !c.requiresPlugins() {
		return err
	}
	return fmt.Errorf("%w: %w", ErrRequiredPlugins, err)
}

func (c *Config) requiresPlugins() bool {
	for _, p := range c.Plugins {
		if len(p.RequiredFor) > 0 {
			return true
		}
	}
	return false
}

// pluginSettings returns the settings by plugin in NRI's form.
func (c *Config) pluginSettings() map[string]nri.PluginSettings {
	settings := make(map[string]nri.PluginSettings, len(c.Plugins))
	for name, p := range c.Plugins {
		settings[name] = nri.PluginSettings{
			RequiredForPods:       slices.Contains(p.RequiredFor, forPods),
			RequiredForContainers: slices.Contains(p.RequiredFor, forContainers),
			ExemptNamespaces:      p.ExemptNamespaces,
			AllowToleration:       p.AllowToleration,
			Wait:                  tomlext.ToStdTime(p.Wait),
			RequestTimeout:        tomlext.ToStdTime(p.RequestTimeout),
			SyncTimeout:           tomlext.ToStdTime(p.SyncTimeout),
		}
	}
	return settings
}

// validatePlugins returns the errors in the settings by plugin.
func (c *Config) validatePlugins() (errs []error) {
	if c.PluginTimeoutCeiling < 0 {
		errs = append(errs, fmt.Errorf("plugin_timeout_ceiling is %s: must not be negative", tomlext.ToStdTime(c.PluginTimeoutCeiling)))
	}
	ceiling := cmp.Or(tomlext.ToStdTime(c.PluginTimeoutCeiling), defaultTimeoutCeiling)
	for _, name := range slices.Sorted(maps.Keys(c.Plugins)) {
		for _, err := range c.Plugins[name].validate(ceiling) {
			errs = append(errs, fmt.Errorf("plugins.%q: %w", name, err))
		}
		if err := api.CheckPluginName(name); err != nil {
			errs = append(errs, fmt.Errorf("plugins.%q: %w", name, err))
		}
	}
	return errs
}

func (p PluginConfig) validate(ceiling time.Duration) (errs []error) {
	for _, what := range p.RequiredFor {
		if what != forPods && what != forContainers {
			errs = append(errs, fmt.Errorf("required_for has %q: can be %q and %q", what, forPods, forContainers))
		}
	}
	if slices.Contains(p.ExemptNamespaces, "") {
		errs = append(errs, errors.New("exempt_namespaces has an empty name"))
	}
	for _, s := range []struct {
		name  string
		value tomlext.Duration
	}{
		{"wait", p.Wait},
		{"request_timeout", p.RequestTimeout},
		{"sync_timeout", p.SyncTimeout},
	} {
		switch d := tomlext.ToStdTime(s.value); {
		case d < 0:
			errs = append(errs, fmt.Errorf("%s is %s: must not be negative", s.name, d))
		case d > ceiling:
			errs = append(errs, fmt.Errorf("%s is %s: must not be longer than plugin_timeout_ceiling, %s", s.name, d, ceiling))
		}
	}
	return errs
}

// KeysMatter has the loader of the configuration log an unknown key as an error: without the
// setting that it stands for, pods may start that must not.
func (*Config) KeysMatter() {}
