// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	nri "github.com/containerd/nri/pkg/adaptation"

	"github.com/containerd/containerd/v2/internal/tomlext"
)

// NetworkGate is a plugin without which the node's network takes no pods.
type NetworkGate struct {
	Plugin string `json:"-"`      // as in the settings
	Closed bool   `json:"closed"` // whether NetworkReady is false because of the plugin
	Grace  string `json:"grace"`  // how long the plugin may be disconnected before that
	// Disconnected is since when the plugin is disconnected, or since when NRI runs if the plugin
	// never connected. It is zero if the plugin is connected.
	Disconnected time.Time `json:"-"`
}

const (
	// defaultNetworkGrace is long enough to replace the pod of a DaemonSet.
	defaultNetworkGrace = 30 * time.Second
	// longestNetworkGrace catches mistakes: a plugin that is disconnected for so long does not restart.
	longestNetworkGrace = time.Hour
)

// validateGate returns the errors in the settings of the plugin's gate.
func (p PluginConfig) validateGate() (errs []error) {
	if p.GatesNetwork && !slices.Contains(p.RequiredFor, forPods) {
		errs = append(errs, fmt.Errorf("gates_network is set: required_for must have %q, or pods start without the plugin", forPods))
	}
	if p.NetworkGrace != 0 && !p.GatesNetwork {
		errs = append(errs, errors.New("network_grace is set, and gates_network is not"))
	}
	if d := tomlext.ToStdTime(p.NetworkGrace); d < 0 || d > longestNetworkGrace {
		errs = append(errs, fmt.Errorf("network_grace is %s: must be between 0s and %s", d, longestNetworkGrace))
	}
	return errs
}

func (p PluginConfig) networkGrace() time.Duration {
	return cmp.Or(tomlext.ToStdTime(p.NetworkGrace), defaultNetworkGrace)
}

// KeptIn sets the folder that keeps, over restarts of containerd, which gates are open. A boot
// must remove it, as it does the state folder.
func (c *Config) KeptIn(stateDir string) *Config {
	c.stateDir = stateDir
	return c
}

// A gate is the state of one plugin that gates the network.
type gate struct {
	grace time.Duration
	// open is whether the plugin has connected, and was not disconnected for longer than its
	// grace since. networkGates.mu guards it.
	open bool
}

// closed reports whether the network takes no pods. A disconnected plugin closes an open gate
// once its grace has passed, both since it disconnected and since from, when it could first
// connect. A connected plugin opens the gate at once.
func (g *gate) closed(p nri.RequiredPlugin, from, now time.Time) bool {
	switch {
	case p.Disconnected.IsZero():
		return false
	case !g.open:
		return true
	case p.Disconnected.After(from):
		from = p.Disconnected
	}
	return now.Sub(from) >= g.grace
}

// NetworkGates implements API.
func (l *local) NetworkGates() []NetworkGate {
	if !l.IsEnabled() {
		return nil
	}
	return l.gates.now()
}
