// SPDX-License-Identifier: Apache-2.0

package rights

import (
	"slices"
	"sort"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/containerd/nri/pkg/api"
)

// changing are the messages in which a plugin may ask for changes today, for the list of all paths:
// the answers to events and to Synchronize, and what it sends by itself.
var changing = []proto.Message{
	(*api.CreateContainerResponse)(nil),
	(*api.UpdateContainerResponse)(nil),
	(*api.StopContainerResponse)(nil),
	(*api.SynchronizeResponse)(nil),
	(*api.UpdateContainersRequest)(nil),
}

// harmless is the one field that changes nothing: whether a plugin takes more of Synchronize.
var harmless = nameOf((*api.SynchronizeResponse)(nil)).Append("more")

// grouped are messages whose fields have paths of their own. Among the resources of a container are
// the devices that it may open.
var grouped = []protoreflect.FullName{
	nameOf((*api.ContainerAdjustment)(nil)),
	nameOf((*api.LinuxContainerAdjustment)(nil)),
	nameOf((*api.LinuxResources)(nil)),
}

func nameOf(m proto.Message) protoreflect.FullName { return m.ProtoReflect().Descriptor().FullName() }

// Lacks returns what a message of a plugin asks for and the set does not allow.
func (s Set) Lacks(m proto.Message) []string {
	if len(s) == 0 {
		return nil
	}
	paths := asked("", m.ProtoReflect())
	sort.Strings(paths) // reflection has no order
	return s.lacks(paths)
}

// asked returns the paths of the fields that are set in a message.
func asked(above string, m protoreflect.Message) (paths []string) {
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case f.FullName() == harmless:
		case isGroup(f):
			paths = append(paths, asked(pathOf(above, f)+".", v.Message())...)
		default:
			paths = append(paths, pathOf(above, f))
		}
		return true
	})
	return paths
}

// Paths returns all paths that this version of NRI has, without those that stand for others.
func Paths() []string {
	var paths []string
	for e := api.Event_UNKNOWN + 1; e < api.Event_LAST; e++ {
		paths = append(paths, eventPath(e))
	}
	for _, m := range changing {
		paths = append(paths, fields("", m.ProtoReflect().Descriptor())...)
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

func fields(above string, m protoreflect.MessageDescriptor) (paths []string) {
	for i := range m.Fields().Len() {
		f := m.Fields().Get(i)
		switch {
		case f.FullName() == harmless:
		case isGroup(f):
			paths = append(paths, fields(pathOf(above, f)+".", f.Message())...)
		default:
			paths = append(paths, pathOf(above, f))
		}
	}
	return paths
}

func isGroup(f protoreflect.FieldDescriptor) bool {
	return f.Message() != nil && !f.IsList() && !f.IsMap() && slices.Contains(grouped, f.Message().FullName())
}

func pathOf(above string, f protoreflect.FieldDescriptor) string { return above + string(f.Name()) }
