// SPDX-License-Identifier: Apache-2.0

// Package updates is for authors of NRI plugins that ask for updates of containers: it says which of
// them held, which NRI's own messages do not say.
//
//	updates.Acknowledge(update) // then put it into a reply
//
//	func (p *plugin) PostUpdateContainer(_ context.Context, _ *api.PodSandbox, c *api.Container) error {
//		if updates.Held(p.wanted[c.GetId()], c) {
//			...
//		}
//	}
package updates

import (
	"github.com/containerd/nri/pkg/api"
	"google.golang.org/protobuf/reflect/protoreflect"

	field "github.com/hookline-nri/hookline/updates/internal/nri/acknowledge"
)

// Acknowledge asks the runtime to send PostUpdateContainer to this plugin when the update is over,
// with what the container has then. The plugin must subscribe to that event. The wish travels in a
// provisional field, number 1000 of NRI's ContainerUpdate.
func Acknowledge(update *api.ContainerUpdate) { field.Ask(update) }

// Held reports whether a container has all resources that an update asked for. A resource that the
// update leaves out, or sets to 0, is not looked at: runtimes leave it as it is. Limits of huge pages
// and devices never hold: runc does not update them.
func Held(update *api.ContainerUpdate, container *api.Container) bool {
	return has(container.GetLinux().GetResources().ProtoReflect(), update.GetLinux().GetResources().ProtoReflect())
}

// has reports whether a message has every value that another has. The resources have no lists but those
// of huge pages and devices.
func has(m, want protoreflect.Message) bool {
	all := true
	want.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		switch {
		case field.IsList():
			all = false
		case field.IsMap():
			all = hasKeys(m.Get(field).Map(), value.Map())
		case field.Message() != nil:
			all = has(m.Get(field).Message(), value.Message())
		default:
			all = m.Get(field).Equal(value)
		}
		return all
	})
	return all
}

func hasKeys(m, want protoreflect.Map) bool {
	all := true
	want.Range(func(key protoreflect.MapKey, value protoreflect.Value) bool {
		all = m.Has(key) && m.Get(key).Equal(value)
		return all
	})
	return all
}
