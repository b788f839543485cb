// SPDX-License-Identifier: Apache-2.0

// Package podnetwork is for NRI plugins that give pods their network, and for the runtimes that ask them
// for it: what a plugin replies to RunPodSandbox, and whether its network takes pods. NRI's messages have
// no fields for either, so both travel in provisional ones, with numbers that NRI does not use.
//
// A program can have only one copy of this package, as protobuf registers its messages by name.
package podnetwork

import (
	"fmt"

	"google.golang.org/protobuf/proto"
)

// The codes of a Status are those of a CNI plugin's STATUS.
const (
	// NotAvailable takes no pods.
	NotAvailable uint32 = 50
	// Limited takes no pods, and those that exist may not be connected either.
	Limited uint32 = 51
)

// Reason is the message with its code.
func (s *Status) Reason() string { return fmt.Sprintf("%s (code %d)", s.GetMessage(), s.GetCode()) }

// Plugin returns the plugin that gives a pod its network, by the name that the operator has set: with the
// index, as "10-net", or without it. It is empty if none does: the pod is on the network of the host or of
// CNI, or the runtime does not say.
func Plugin(pod proto.Message) string {
	var fields PodSandbox
	if read(pod, &fields) != nil {
		return ""
	}
	return fields.GetNetworkPlugin()
}

// GivenBy reports whether a plugin gives a pod its network.
func GivenBy(pod proto.Message, index, name string) bool {
	by := Plugin(pod)
	return by != "" && (by == name || by == index+"-"+name)
}

// SetPlugin sets what Plugin returns, as a runtime does.
func SetPlugin(pod proto.Message, plugin string) error {
	var fields PodSandbox
	_ = readAll(pod, &fields)
	fields.NetworkPlugin = plugin
	return write(pod, &fields)
}

// Give puts a network into a RunPodSandboxResponse. It does not check it.
func Give(reply proto.Message, network *Network) error {
	var fields RunPodSandboxResponse
	_ = readAll(reply, &fields)
	fields.Network = network
	return write(reply, &fields)
}

// Given returns the network in a RunPodSandboxResponse, nil if it has none. It does not check it.
func Given(reply proto.Message) (*Network, error) {
	var fields RunPodSandboxResponse
	if err := read(reply, &fields); err != nil {
		return nil, err
	}
	return fields.Network, nil
}

// Report puts the status of the plugin's network into a SynchronizeResponse or an UpdateContainersRequest.
// Nil takes it out.
func Report(message proto.Message, status *Status) error {
	var fields UpdateContainersRequest
	_ = readAll(message, &fields)
	fields.NetworkStatus = status
	return write(message, &fields)
}

// AppendStatus is Report for an UpdateContainersRequest that is encoded already: fields of protobuf may have any
// order.
func AppendStatus(request []byte, status *Status) ([]byte, error) {
	return proto.MarshalOptions{}.MarshalAppend(request, &UpdateContainersRequest{NetworkStatus: status})
}

// Reported returns the status in one of these messages, nil if it has none.
func Reported(message proto.Message) (*Status, error) {
	var fields UpdateContainersRequest
	if err := read(message, &fields); err != nil {
		return nil, err
	}
	return fields.NetworkStatus, nil
}

// read reads those of the fields that the type of a message does not have. Others may be long.
func read(m, fields proto.Message) error {
	return unmarshal(m, fields, proto.UnmarshalOptions{DiscardUnknown: true})
}

// readAll also keeps the others, for write.
func readAll(m, fields proto.Message) error { return unmarshal(m, fields, proto.UnmarshalOptions{}) }

func unmarshal(m, fields proto.Message, how proto.UnmarshalOptions) error {
	if err := how.Unmarshal(m.ProtoReflect().GetUnknown(), fields); err != nil {
		return fmt.Errorf("provisional fields of %s: %w", m.ProtoReflect().Descriptor().Name(), err)
	}
	return nil
}

// write replaces them by what readAll has read.
func write(m, fields proto.Message) error {
	wire, err := proto.MarshalOptions{Deterministic: true}.Marshal(fields)
	if err != nil {
		return fmt.Errorf("provisional fields of %s: %w", m.ProtoReflect().Descriptor().Name(), err)
	}
	m.ProtoReflect().SetUnknown(wire)
	return nil
}
