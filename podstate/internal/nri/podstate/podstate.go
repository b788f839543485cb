// SPDX-License-Identifier: Apache-2.0

// Package podstate carries the state of a pod in NRI's PodSandbox, which has no field for it. It uses
// a provisional field, whose number NRI does not use. Plugins and runtimes that do not know the field
// ignore it.
package podstate

import (
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// Field is the number of the provisional field: a varint that holds a State.
// NRI's PodSandbox uses 1 to 10 (v0.12.5), and may take those that follow.
const Field protowire.Number = 1000

// State is where a pod is in its life.
type State int32

const (
	// Unknown is the state of a pod whose runtime does not send it.
	Unknown State = iota
	// Creating pods have not finished their RunPodSandbox yet.
	Creating
	// Ready pods were created, and have not had their StopPodSandbox yet.
	Ready
	// Stopped pods have had their StopPodSandbox.
	Stopped
)

// Set writes the state into a PodSandbox.
func Set(pod proto.Message, state State) {
	m := pod.ProtoReflect()
	rest, _ := split(m.GetUnknown())
	if state != Unknown {
		rest = protowire.AppendTag(rest, Field, protowire.VarintType)
		rest = protowire.AppendVarint(rest, uint64(state))
	}
	m.SetUnknown(rest)
}

// Get reads the state from a PodSandbox. A value that is no state is Unknown.
func Get(pod proto.Message) State {
	_, state := split(pod.ProtoReflect().GetUnknown())
	return state
}

// split separates the state from the other unknown fields. If the message has several states, the
// last counts, as for any field.
func split(unknown []byte) (rest []byte, state State) {
	for len(unknown) > 0 {
		number, kind, tag := protowire.ConsumeTag(unknown)
		n := protowire.ConsumeFieldValue(number, kind, unknown[max(tag, 0):])
		if tag < 0 || n < 0 {
			return append(rest, unknown...), state
		}
		n += tag
		if number != Field || kind != protowire.VarintType {
			rest = append(rest, unknown[:n]...)
			unknown = unknown[n:]
			continue
		}
		value, _ := protowire.ConsumeVarint(unknown[tag:n])
		if state = Unknown; value <= uint64(Stopped) {
			state = State(value)
		}
		unknown = unknown[n:]
	}
	return rest, state
}
