// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"google.golang.org/protobuf/proto"

	"github.com/hookline-nri/hookline/internal/nri/lifecycle"
)

// encodeEnd makes the bytes of the request of an end, to be kept. One that cannot be
// sent to a plugin either is kept by its ids alone.
func encodeEnd(ev lifecycle.Event) []byte {
	if request, ok := ev.Request.(proto.Message); ok {
		if bytes, err := proto.Marshal(request); err == nil {
			return bytes
		}
	}
	bare, _ := impliedEnd(ev.Kind, ev.Container, lifecycle.Event{Pod: ev.Pod}).(proto.Message)
	bytes, err := proto.Marshal(bare)
	if err != nil || bytes == nil {
		return []byte{} // nil would say that it is not owed
	}
	return bytes
}

// decodeEnd makes the request of bytes that were kept. What there is to it if they are
// not to be read, as after a change of version, is its ids.
func decodeEnd(ev lifecycle.Event, bytes []byte) any {
	var request interface {
		proto.Message
		GetPod() *PodSandbox
	}
	switch ev.Kind {
	case lifecycle.StopPodSandbox:
		request = &StopPodSandboxRequest{}
	case lifecycle.RemovePodSandbox:
		request = &RemovePodSandboxRequest{}
	case lifecycle.StopContainer:
		request = &StopContainerRequest{}
	case lifecycle.RemoveContainer:
		request = &RemoveContainerRequest{}
	default:
		return nil
	}
	if proto.Unmarshal(bytes, request) != nil || request.GetPod().GetId() != ev.Pod {
		return impliedEnd(ev.Kind, ev.Container, lifecycle.Event{Pod: ev.Pod})
	}
	return request
}
