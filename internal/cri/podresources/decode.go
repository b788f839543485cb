// SPDX-License-Identifier: Apache-2.0

package podresources

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// errOther is of bytes that are a message, and none of ours.
var errOther = errors.New("has none of the fields of resources, so means something else")

// decodePod reads the KEP's PodResourceConfig in its newest form or the earlier.
func decodePod(wire []byte) (*PodResourceConfig, error) {
	f, err := formOf(wire)
	if err != nil {
		return nil, err
	}
	config := &PodResourceConfig{}
	if f.earlier {
		earlier := &EarlierPodResourceConfig{}
		if err := proto.Unmarshal(wire, earlier); err != nil {
			return nil, fmt.Errorf("malformed: %w", err)
		}
		config = earlier.newest()
	} else if err := proto.Unmarshal(wire, config); err != nil {
		return nil, fmt.Errorf("malformed: %w", err)
	}
	return config, config.validate()
}

// decodeResources reads the KEP's KubernetesResources.
func decodeResources(wire []byte) (*KubernetesResources, error) {
	r := &KubernetesResources{}
	if n := items(wire, 1, 2); n >= MaxItems {
		return nil, tooManyItems(n)
	}
	if err := proto.Unmarshal(wire, r); err != nil {
		return nil, fmt.Errorf("malformed: %w", err)
	}
	if len(r.GetRequests())+len(r.GetLimits()) == 0 && len(r.ProtoReflect().GetUnknown()) > 0 {
		return nil, errOther
	}
	return r, r.validate()
}

// newest turns the earlier form into what is used from then on.
func (c *EarlierPodResourceConfig) newest() *PodResourceConfig {
	config := &PodResourceConfig{}
	for _, container := range c.GetInitContainers() {
		container.Type = ContainerType_INIT_CONTAINER.Enum()
		config.Containers = append(config.Containers, container)
	}
	for _, container := range c.GetContainers() {
		container.Type = ContainerType_CONTAINER.Enum()
		config.Containers = append(config.Containers, container)
	}
	return config
}

type form struct {
	earlier           bool
	containers, items int
}

// formOf tells the two forms apart, and counts before anything is allocated.
// Field 1 holds containers in both. Field 2 holds a container in the earlier
// form, and has one in every pod, since no pod is without a main container; in
// the newest it holds what the pod asks for as a whole.
func formOf(wire []byte) (form, error) {
	var f form
	var whole, known bool
	err := fields(wire, func(number protowire.Number, kind protowire.Type, value []byte) error {
		if number != 1 && number != 2 {
			return nil
		}
		known = true
		switch {
		case kind != protowire.BytesType:
			return fmt.Errorf("its field %d is %s, want a message", number, wireTypes[kind])
		case number == 1:
			f.addContainer(value)
		case isContainer(value):
			f.addContainer(value)
			f.earlier = true
		default:
			f.items += items(value, 1, 2)
			whole = true
		}
		return nil
	})
	switch {
	case err != nil:
		return f, err
	case len(wire) > 0 && !known:
		return f, errOther
	case f.earlier && whole:
		return f, errors.New("its field 2 is a container, and resources too")
	case f.containers >= MaxContainers:
		return f, tooMany(f.containers)
	case f.items >= MaxItems:
		return f, tooManyItems(f.items)
	}
	return f, nil
}

// addContainer counts a container, and what is in it: in its field 3 resources,
// in those from 4 to 6 mounts and devices.
func (f *form) addContainer(wire []byte) {
	f.containers++
	f.items += items(wire, 4, 6)
	_ = fields(wire, func(number protowire.Number, _ protowire.Type, value []byte) error {
		if number == 3 {
			f.items += items(value, 1, 2)
		}
		return nil
	}) // what is malformed will be found so by who reads it
}

// items counts the fields of a message with numbers from first to last.
func items(wire []byte, first, last protowire.Number) (n int) {
	_ = fields(wire, func(number protowire.Number, _ protowire.Type, _ []byte) error {
		if first <= number && number <= last {
			n++
		}
		return nil
	}) // what is malformed will be found so by who reads it
	return n
}

// isContainer tells a container from resources. The latter have entries of maps
// in their fields 1 and 2. Where an entry begins with the tag of its key or its
// value, a control character, a container has its name, and then its type.
func isContainer(wire []byte) (is bool) {
	_ = fields(wire, func(number protowire.Number, kind protowire.Type, value []byte) error {
		name := number == 1 && len(value) > 0 && value[0] >= ' '
		is = is || name || number == 2 && kind == protowire.VarintType
		return nil
	}) // what is malformed will be found so by who reads it
	return is
}
