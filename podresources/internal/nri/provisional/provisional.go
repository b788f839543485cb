// SPDX-License-Identifier: Apache-2.0

// Package provisional writes and reads fields that the type of a protobuf message does not have
// yet. They travel as unknown fields: a receiver that knows the number reads them, and all others
// ignore them.
//
// The package does not know the content of a field. It imports only protobuf.
package provisional

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// Resources is the number of the field of NRI's PodSandbox and Container for their resources. NRI
// does not use the number (v0.12.5).
const Resources protowire.Number = 1001

// Set puts an encoded message into the field with that number, and replaces its content. Nil removes
// the field. Other fields stay.
func Set(m proto.Message, number protowire.Number, value []byte) {
	unknown := m.ProtoReflect().GetUnknown()
	rest := make([]byte, 0, len(unknown)+protowire.SizeTag(number)+protowire.SizeBytes(len(value)))
	for len(unknown) > 0 {
		n, _, size := protowire.ConsumeField(unknown)
		if size < 0 { // the rest is malformed
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

// Get returns the encoded message in the field with that number, and nil if there is no such field.
// As in any field, a message in parts is one message. It is an error if the field holds anything but
// a message, or if the fields are malformed.
func Get(m proto.Message, number protowire.Number) ([]byte, error) {
	var value []byte
	err := Fields(m.ProtoReflect().GetUnknown(), func(n protowire.Number, kind protowire.Type, part []byte) error {
		if n != number {
			return nil
		}
		if err := WantMessage(kind); err != nil {
			return err
		}
		if value == nil {
			value = []byte{}
		}
		value = append(value, part...)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return value, nil
}

// Fields calls visit with each field of an encoded message, and returns its first error. The value
// is the content of a field that has a length, and nil for other fields.
func Fields(wire []byte, visit func(number protowire.Number, kind protowire.Type, value []byte) error) error {
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

var wireTypes = map[protowire.Type]string{
	protowire.VarintType:     "a varint",
	protowire.Fixed32Type:    "32 bits",
	protowire.Fixed64Type:    "64 bits",
	protowire.StartGroupType: "a group",
}

// WantMessage returns an error for a field type that holds no message.
func WantMessage(kind protowire.Type) error {
	if kind == protowire.BytesType {
		return nil
	}
	return fmt.Errorf("is %s, want a message", wireTypes[kind])
}
