// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// resourcesField is a provisional field of NRI's PodSandbox and Container, for what
// they ask for. Who does not know it passes it over.
const resourcesField protowire.Number = 1001

// setResources writes what is asked for, encoded, into a message that has no such
// field yet. With nil it gets none.
func setResources(m proto.Message, wire []byte) {
	if wire == nil {
		return
	}
	unknown := protowire.AppendTag(m.ProtoReflect().GetUnknown(), resourcesField, protowire.BytesType)
	m.ProtoReflect().SetUnknown(protowire.AppendBytes(unknown, wire))
}
