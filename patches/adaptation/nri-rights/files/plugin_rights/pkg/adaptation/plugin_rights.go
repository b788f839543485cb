// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"fmt"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/containerd/nri/internal/rights"
)

// CheckRights returns an error for a right that does not exist. A right is an event, such as
// "events.RunPodSandbox"; a field of ContainerAdjustment, such as "adjust.mounts" or
// "adjust.linux.devices"; "update" or "evict"; or the beginning of several: "events", "adjust"
// or "adjust.linux". "none", alone, allows nothing.
func CheckRights(all []string) error { return rights.Set(all).Check() }

// WithPluginRights sets the rights of plugins whose settings have none. If empty, these plugins
// are not limited.
func WithPluginRights(all []string) Option {
	return func(r *Adaptation) error {
		r.pluginRights = all
		return nil
	}
}

// RightsMetrics may be implemented by the value passed to WithMetrics, beside Metrics, to see
// what plugins have no right to.
type RightsMetrics interface {
	// RecordMissingRight is called for each right that a plugin lacks when it registers or
	// asks for a change. plugin is its index and name.
	RecordMissingRight(plugin, right string)
}

// rights returns the rights of the plugin: those of its name with the index, else those of
// its name alone, else those of all plugins. An empty set does not limit it. Plugins that are
// built in are a part of the runtime.
func (p *plugin) rights() rights.Set {
	if p.impl.isBuiltin() {
		return nil
	}
	for _, name := range []string{p.name(), p.base} {
		if set := p.r.pluginSettings[name].Rights; len(set) > 0 {
			return set
		}
	}
	return p.r.pluginRights
}

// maySubscribe returns an error if the plugin subscribes to events that it has no right to.
func (p *plugin) maySubscribe(events EventMask) error {
	return p.lacks(p.rights().LacksEvents(events))
}

// mayAsk returns an error if a message of the plugin asks for changes that it has no right to.
func (p *plugin) mayAsk(message any) error {
	m, is := message.(proto.Message)
	if !is {
		return fmt.Errorf("plugin %s: rights of a %T are not known", p.name(), message)
	}
	return p.lacks(p.rights().Lacks(m))
}

func (p *plugin) lacks(missing []string) error {
	if len(missing) == 0 {
		return nil
	}
	if m, ok := p.r.metrics.(RightsMetrics); ok {
		for _, right := range missing {
			m.RecordMissingRight(p.name(), right)
		}
	}
	return status.Errorf(codes.PermissionDenied, "plugin %s has no right to %s", p.name(), strings.Join(missing, ", "))
}
