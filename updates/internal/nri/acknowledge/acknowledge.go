// SPDX-License-Identifier: Apache-2.0

// Package acknowledge carries in NRI's ContainerUpdate that the plugin wants to receive what the
// container has after the update. ContainerUpdate has no field for it, so it uses a provisional
// field, whose number NRI does not use. Plugins and runtimes that do not know the field ignore it.
package acknowledge

import (
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// Field is the number of the provisional field: a varint that is not 0 if the update is to be
// acknowledged. NRI's ContainerUpdate uses 1 to 3 (v0.12.5), and may take those that follow.
const Field protowire.Number = 1000

// Ask marks an update as one to be acknowledged.
func Ask(update proto.Message) {
	if Asked(update) {
		return
	}
	m := update.ProtoReflect()
	marked := protowire.AppendTag(m.GetUnknown(), Field, protowire.VarintType)
	m.SetUnknown(protowire.AppendVarint(marked, 1))
}

// Asked reports whether an update is to be acknowledged. If it has several marks, the last counts, as
// for any field.
func Asked(update proto.Message) (asked bool) {
	for unknown := update.ProtoReflect().GetUnknown(); len(unknown) > 0; {
		number, kind, n := protowire.ConsumeField(unknown)
		if n < 0 {
			return asked
		}
		if number == Field && kind == protowire.VarintType {
			_, _, tag := protowire.ConsumeTag(unknown)
			value, _ := protowire.ConsumeVarint(unknown[tag:n])
			asked = value != 0
		}
		unknown = unknown[n:]
	}
	return asked
}
