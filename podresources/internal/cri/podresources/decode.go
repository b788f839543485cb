// SPDX-License-Identifier: Apache-2.0

package podresources

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/hookline-nri/hookline/podresources/internal/nri/provisional"
)

// errOther is the error for bytes of another message.
var errOther = errors.New("has none of the fields of resources, so is another message")

// decodePod reads the KEP's PodResourceConfig.
func decodePod(wire []byte) (*PodResourceConfig, error) {
	if err := checkCounts(wire); err != nil {
		return nil, err
	}
	config := &PodResourceConfig{}
	if err := proto.Unmarshal(wire, config); err != nil {
		return nil, fmt.Errorf("malformed: %w", err)
	}
	if len(config.GetContainers()) == 0 && config.GetKubernetesResources() == nil && len(config.ProtoReflect().GetUnknown()) > 0 {
		return nil, errOther
	}
	return config, config.validate()
}

// decodeResources reads the KEP's KubernetesResources.
func decodeResources(wire []byte) (*KubernetesResources, error) {
	r := &KubernetesResources{}
	if n := items(wire, 1, 2); n >= MaxItems {
		return nil, tooManyItems(n, MaxItems)
	}
	if err := proto.Unmarshal(wire, r); err != nil {
		return nil, fmt.Errorf("malformed: %w", err)
	}
	if len(r.GetRequests())+len(r.GetLimits()) == 0 && len(r.ProtoReflect().GetUnknown()) > 0 {
		return nil, errOther
	}
	return r, r.validate()
}

// checkCounts counts before anything is allocated: containers are in field 1, the
// resources of the pod as a whole in field 2.
func checkCounts(wire []byte) error {
	var containers, all int
	err := provisional.Fields(wire, func(number protowire.Number, kind protowire.Type, value []byte) error {
		switch number {
		case 1:
			containers++
			all += itemsOfContainer(value)
		case 2:
			all += items(value, 1, 2)
		default:
			return nil
		}
		if err := provisional.WantMessage(kind); err != nil {
			return fmt.Errorf("its field %d %w", number, err)
		}
		return nil
	})
	switch {
	case err != nil:
		return err
	case containers >= MaxContainers:
		return tooMany(containers)
	case all >= MaxItems:
		return tooManyItems(all, MaxItems)
	}
	return nil
}

// itemsOfContainer counts the items of a container in field 3, resources, and in
// fields 4 to 6, mounts and devices.
func itemsOfContainer(wire []byte) int {
	n := items(wire, 4, 6)
	_ = provisional.Fields(wire, func(number protowire.Number, _ protowire.Type, value []byte) error {
		if number == 3 {
			n += items(value, 1, 2)
		}
		return nil
	}) // decoding reports malformed fields
	return n
}

// items counts the fields of a message with numbers from first to last.
func items(wire []byte, first, last protowire.Number) (n int) {
	_ = provisional.Fields(wire, func(number protowire.Number, _ protowire.Type, _ []byte) error {
		if first <= number && number <= last {
			n++
		}
		return nil
	}) // decoding reports malformed fields
	return n
}
