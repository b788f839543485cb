// SPDX-License-Identifier: Apache-2.0

package podresources

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// item is a mount or a device: its key, and the properties that are compared.
type item struct {
	key        string
	properties []property
	allowed    bool // need not be announced
}

// A property is a field of CRI's message.
type property struct {
	name, value string
	set         bool
}

// String names the properties that are set.
func (i item) String() string {
	var parts []string
	for _, p := range i.properties {
		if p.set {
			parts = append(parts, p.name+" "+p.value)
		}
	}
	if len(parts) == 0 {
		return strconv.Quote(i.key)
	}
	return strings.Join(parts, ", ")
}

func (i item) equal(other item) bool {
	return i.key == other.key && slices.Equal(i.properties, other.properties)
}

func (k kubelet) mounts(mounts []*runtime.Mount) (items []item) {
	for _, m := range mounts {
		if k.isTerminationLog(m) {
			continue
		}
		m = proto.CloneOf(m)
		if m.GetImage() != nil { // by the user's name for it: the kubelet may have resolved it since
			m.Image = &runtime.ImageSpec{Image: cmp.Or(m.Image.GetUserSpecifiedImage(), m.Image.GetImage())}
		}
		items = append(items, item{m.GetContainerPath(), properties(m, "container_path"), k.adds(m)})
	}
	return items
}

func devices(devices []*runtime.Device) (items []item) {
	for _, d := range devices {
		permissions := []byte(d.GetPermissions()) // their order does not matter
		slices.SortFunc(permissions, func(a, b byte) int { return strings.IndexByte("rwm", a) - strings.IndexByte("rwm", b) })
		d = &runtime.Device{ContainerPath: d.GetContainerPath(), HostPath: d.GetHostPath(), Permissions: string(permissions)}
		items = append(items, item{key: d.GetContainerPath(), properties: properties(d, "container_path")})
	}
	return items
}

func cdiDevices(devices []*runtime.CDIDevice) (items []item) {
	for _, d := range devices {
		items = append(items, item{key: d.GetName()})
	}
	return items
}

// properties returns all fields of a message except its key, also fields that CRI may add.
func properties(m proto.Message, key protoreflect.Name) (all []property) {
	r := m.ProtoReflect()
	fields := r.Descriptor().Fields()
	for i := range fields.Len() {
		if f := fields.Get(i); f.Name() != key {
			all = append(all, property{string(f.Name()), valueOf(f, r.Get(f)), r.Has(f)})
		}
	}
	return all
}

// valueOf returns the value in readable form.
func valueOf(f protoreflect.FieldDescriptor, v protoreflect.Value) string {
	switch {
	case f.IsList():
		var values []string
		for i := range v.List().Len() {
			values = append(values, scalarOf(f, v.List().Get(i)))
		}
		return cmp.Or(strings.Join(values, " "), none)
	case f.Message() != nil && !v.Message().IsValid():
		return none
	}
	return scalarOf(f, v)
}

func scalarOf(f protoreflect.FieldDescriptor, v protoreflect.Value) string {
	switch {
	case f.Message() != nil:
		text, err := toJSON(v.Message().Interface())
		if err != nil {
			return err.Error()
		}
		return text
	case f.Enum() != nil:
		if value := f.Enum().Values().ByNumber(v.Enum()); value != nil {
			return string(value.Name())
		}
		return strconv.Itoa(int(v.Enum()))
	case f.Kind() == protoreflect.StringKind:
		return strconv.Quote(v.String())
	}
	return v.String()
}

// compare skips items that are equal on both sides, and pairs the rest by key.
func compare(field string, announced, got []item) (differences []Difference) {
	announced, got = without(announced, got), without(got, announced)
	for _, a := range announced {
		n := slices.IndexFunc(got, func(g item) bool { return g.key == a.key })
		if n < 0 {
			differences = append(differences, Difference{at(field, a.key), a.String(), none})
			continue
		}
		for i, p := range a.properties {
			if other := got[n].properties[i]; p != other {
				differences = append(differences, Difference{at(field, a.key) + "." + p.name, p.value, other.value})
			}
		}
		got = slices.Delete(got, n, n+1)
	}
	for _, g := range got {
		if !g.allowed {
			differences = append(differences, Difference{at(field, g.key), none, g.String()})
		}
	}
	return differences
}

// without returns the items that have no equal among the others. Each of the others matches at
// most one item.
func without(items, others []item) (rest []item) {
	others = slices.Clone(others)
	for _, i := range items {
		n := slices.IndexFunc(others, i.equal)
		if n < 0 {
			rest = append(rest, i)
			continue
		}
		others = slices.Delete(others, n, n+1)
	}
	return rest
}
