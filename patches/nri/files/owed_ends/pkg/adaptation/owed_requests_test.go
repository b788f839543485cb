// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/hookline-nri/hookline/internal/nri/lifecycle"
)

// What is told late is what would have been told in time.
func TestOwedRequestsAreKeptWhole(t *testing.T) {
	pod := &PodSandbox{Id: "pod0", Name: "name", Namespace: "default", Annotations: map[string]string{"a": "b"}}
	ctr := &Container{Id: "ctr0", PodSandboxId: "pod0", Args: []string{"sleep"}}
	for kind, request := range map[lifecycle.Kind]proto.Message{
		lifecycle.StopPodSandbox:   &StopPodSandboxRequest{Pod: pod},
		lifecycle.RemovePodSandbox: &RemovePodSandboxRequest{Pod: pod},
		lifecycle.StopContainer:    &StopContainerRequest{Pod: pod, Container: ctr},
		lifecycle.RemoveContainer:  &RemoveContainerRequest{Pod: pod, Container: ctr},
	} {
		t.Run(kind.String(), func(t *testing.T) {
			ev := lifecycle.Event{Kind: kind, Pod: "pod0", Request: request}
			read := decodeEnd(ev, encodeEnd(ev))
			require.True(t, proto.Equal(request, read.(proto.Message)), "%v", read)
		})
	}
}

// What cannot be kept or read whole is told by its ids.
func TestOwedRequestsHaveIds(t *testing.T) {
	for name, ev := range map[string]lifecycle.Event{
		"without a request": {Kind: lifecycle.StopContainer, Pod: "pod0", Container: "ctr0"},
		"not to be sent":    {Kind: lifecycle.StopContainer, Pod: "pod0", Container: "ctr0", Request: &StopContainerRequest{Pod: &PodSandbox{Id: "pod0", Name: "\xff"}}},
	} {
		t.Run(name, func(t *testing.T) {
			read := decodeEnd(ev, encodeEnd(ev))
			require.Equal(t, "pod0", read.(*StopContainerRequest).GetPod().GetId())
			require.Equal(t, "ctr0", read.(*StopContainerRequest).GetContainer().GetId())
		})
	}
	for _, bytes := range [][]byte{nil, []byte("\xff\xff not a message")} {
		read := decodeEnd(lifecycle.Event{Kind: lifecycle.RemovePodSandbox, Pod: "pod0"}, bytes)
		require.Equal(t, "pod0", read.(*RemovePodSandboxRequest).GetPod().GetId())
	}
	require.Nil(t, decodeEnd(lifecycle.Event{Kind: lifecycle.RunPodSandbox, Pod: "pod0"}, nil))
	require.NotNil(t, encodeEnd(lifecycle.Event{Kind: lifecycle.StopPodSandbox}))
}
