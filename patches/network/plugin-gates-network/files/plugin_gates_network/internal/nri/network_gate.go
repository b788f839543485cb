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
	Closed bool   `json:"closed"` // whether NetworkReady is false for it
	Grace  string `json:"grace"`  // for how long the plugin may be disconnected before it is
	// Disconnected is since when the plugin is disconnected, or since when NRI runs if it has not come. It
	// is zero if the plugin is there.
	Disconnected time.Time `json:"-"`
}

const (
	// defaultNetworkGrace is enough for the pod of a DaemonSet to be replaced.
	defaultNetworkGrace = 30 * time.Second
	// longestNetworkGrace is for mistakes: a plugin that is disconnected so long is not restarting.
	longestNetworkGrace = time.Hour
)

// validateGate returns what is wrong with the settings of the plugin's gate.
func (p PluginConfig) validateGate() (errs []error) {
	if p.GatesNetwork && !slices.Contains(p.RequiredFor, forPods) {
		errs = append(errs, fmt.Errorf("gates_network is set: required_for must have %q, or pods start without the plugin all the same", forPods))
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

// KeptIn says in which folder it is kept, over restarts of containerd, which plugins
// are there. It has to be gone once the node has booted, as the state folder is.
func (c *Config) KeptIn(stateDir string) *Config {
	c.stateDir = stateDir
	return c
}

// A gate is what is known of one plugin that gates the network.
type gate struct {
	grace time.Duration
	// open is whether the plugin was there, and not away for longer than its grace
	// since. networkGates.mu guards it.
	open bool
}

// closed is whether the network takes no pods. A plugin that is disconnected does not close
// an open gate before it has been disconnected for its grace, nor before that has passed
// since from, when it could first have come. One that is there opens it at once.
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
