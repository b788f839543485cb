// SPDX-License-Identifier: Apache-2.0

package podresources

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

var wireTypes = map[protowire.Type]string{
	protowire.VarintType:     "a varint",
	protowire.Fixed32Type:    "32 bits",
	protowire.Fixed64Type:    "64 bits",
	protowire.StartGroupType: "a group",
}

// field returns what a message holds in a field that its type does not know, and
// whether it has the field at all. A message that is there in parts is one, as
// for any field of messages.
func field(m proto.Message, number protowire.Number) (value []byte, found bool, err error) {
	err = fields(m.ProtoReflect().GetUnknown(), func(n protowire.Number, kind protowire.Type, v []byte) error {
		if n != number {
			return nil
		}
		if kind != protowire.BytesType {
			return fmt.Errorf("is %s, want a message", wireTypes[kind])
		}
		found = true
		if value = append(value, v...); len(value) >= MaxSize {
			return tooLarge(len(value))
		}
		return nil
	})
	if err != nil {
		return nil, true, fmt.Errorf("field %d of %s: %w", number, m.ProtoReflect().Descriptor().Name(), err)
	}
	return value, found, nil
}

// setField puts a value into a field that the type of the message does not know,
// in place of what is there. With nil the field is gone. Others stay.
func setField(m proto.Message, number protowire.Number, value []byte) {
	var rest []byte
	unknown := m.ProtoReflect().GetUnknown()
	for len(unknown) > 0 {
		n, _, size := protowire.ConsumeField(unknown)
		if size < 0 { // the end of what can be told apart
			rest = append(rest, unknown...)
			break
		}
		if n != number {
			rest = append(rest, unknown[:size]...)
		}
		unknown = unknown[size:]
	}
	if value != nil {
		rest = protowire.AppendTag(rest, number, protowire.BytesType)
		rest = protowire.AppendBytes(rest, value)
	}
	m.ProtoReflect().SetUnknown(rest)
}

// fields calls visit with each field of what is on the wire. The value is the
// content of one that has a length, and nil for any other.
func fields(wire []byte, visit func(number protowire.Number, kind protowire.Type, value []byte) error) error {
	for len(wire) > 0 {
		number, kind, tag := protowire.ConsumeTag(wire)
		if tag < 0 {
			return fmt.Errorf("malformed: %w", protowire.ParseError(tag))
		}
		size := protowire.ConsumeFieldValue(number, kind, wire[tag:])
		if size < 0 {
			return fmt.Errorf("malformed: %w", protowire.ParseError(size))
		}
		var value []byte
		if kind == protowire.BytesType {
			value, _ = protowire.ConsumeBytes(wire[tag:])
		}
		if err := visit(number, kind, value); err != nil {
			return err
		}
		wire = wire[tag+size:]
	}
	return nil
}
