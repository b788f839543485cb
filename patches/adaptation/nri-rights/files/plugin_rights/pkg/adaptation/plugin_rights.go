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
// "events.RunPodSandbox"; a field of ContainerAdjustment, such as "adjust.mounts",
// "adjust.linux.devices" or "adjust.linux.resources.cpu"; "update" or "evict"; or the beginning
// of several: "events", "adjust" or "adjust.linux". "none", alone, allows nothing. Other rights
// need an event among them.
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
	// asks for a change. plugin is the name in the settings that limits it, or empty if it is
	// limited by the rights of all other plugins.
	RecordMissingRight(plugin, right string)
}

// errNoRight is why a subscription or an answer is rejected.
type errNoRight struct {
	plugin string
	lacks  []string
}

func (e *errNoRight) Error() string {
	return fmt.Sprintf("plugin %s has no right to %s", e.plugin, strings.Join(e.lacks, ", "))
}

// GRPCStatus is the error that the plugin receives.
func (e *errNoRight) GRPCStatus() *status.Status {
	return status.New(codes.PermissionDenied, e.Error())
}

// rights returns the rights of the plugin: those of its name with the index, else those of
// its name alone, else those of all plugins. name is the one in the settings. An empty set does
// not limit the plugin. Plugins that are built in are a part of the runtime.
func (p *plugin) rights() (set rights.Set, name string) {
	if p.impl.isBuiltin() {
		return nil, ""
	}
	for _, name := range []string{p.name(), p.base} {
		if set := p.r.pluginSettings[name].Rights; len(set) > 0 {
			return set, name
		}
	}
	return p.r.pluginRights, ""
}

// maySubscribe returns an error if the plugin subscribes to events that it has no right to.
func (p *plugin) maySubscribe(events EventMask) error {
	set, name := p.rights()
	return p.rejected(name, set.LacksEvents(events))
}

// mayAsk returns an error if a message of the plugin asks for changes that it has no right to.
func (p *plugin) mayAsk(message proto.Message) error {
	set, name := p.rights()
	return p.rejected(name, set.Lacks(message))
}

// rejected returns the error of a plugin that lacks rights, and counts each.
func (p *plugin) rejected(name string, lacks []string) error {
	if len(lacks) == 0 {
		return nil
	}
	if m, ok := p.r.metrics.(RightsMetrics); ok {
		for _, right := range lacks {
			m.RecordMissingRight(name, right)
		}
	}
	return &errNoRight{p.name(), lacks}
}
