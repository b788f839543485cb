// SPDX-License-Identifier: Apache-2.0

package rights

import (
	"slices"

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
	paths := pathsOf("", m.ProtoReflect(), protoreflect.Message.Has)
	slices.Sort(paths)
	return s.lacks(paths)
}

// Paths returns all paths that this version of NRI has, without those that stand for others.
func Paths() []string {
	var paths []string
	for e := api.Event_UNKNOWN + 1; e < api.Event_LAST; e++ {
		paths = append(paths, eventPath(e))
	}
	all := func(protoreflect.Message, protoreflect.FieldDescriptor) bool { return true }
	for _, m := range changing {
		paths = append(paths, pathsOf("", m.ProtoReflect(), all)...)
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// pathsOf returns the paths of the fields of a message that are of interest.
func pathsOf(above string, m protoreflect.Message, ofInterest func(protoreflect.Message, protoreflect.FieldDescriptor) bool) (paths []string) {
	for i := range m.Descriptor().Fields().Len() {
		f := m.Descriptor().Fields().Get(i)
		path := above + string(f.Name())
		switch {
		case f.FullName() == harmless || !ofInterest(m, f):
		case isGroup(f):
			paths = append(paths, pathsOf(path+".", m.Get(f).Message(), ofInterest)...)
		default:
			paths = append(paths, path)
		}
	}
	return paths
}

func isGroup(f protoreflect.FieldDescriptor) bool {
	return f.Message() != nil && !f.IsList() && !f.IsMap() && slices.Contains(grouped, f.Message().FullName())
}
