// SPDX-License-Identifier: Apache-2.0

package podstate

import (
	"testing"

	"github.com/containerd/nri/pkg/api"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// The state travels with the pod, and nothing else of it changes.
func TestStateTravels(t *testing.T) {
	other := protowire.AppendVarint(protowire.AppendTag(nil, 999, protowire.VarintType), 7)
	pod := &api.PodSandbox{Id: "pod0"}
	pod.ProtoReflect().SetUnknown(other)
	require.Equal(t, Unknown, Get(pod))

	for _, state := range []State{Creating, Ready, Stopped} {
		Set(pod, state)
		wire, err := proto.Marshal(pod)
		require.NoError(t, err)
		got := &api.PodSandbox{}
		require.NoError(t, proto.Unmarshal(wire, got))
		require.Equal(t, state, Get(got))
		require.Equal(t, "pod0", got.GetId())
	}

	Set(pod, Unknown)
	require.Equal(t, other, []byte(pod.ProtoReflect().GetUnknown()))
}

// A value that another runtime puts into the field never fails a plugin.
func TestInvalidStateIsUnknown(t *testing.T) {
	for name, unknown := range map[string][]byte{
		"none":          nil,
		"out of range":  protowire.AppendVarint(protowire.AppendTag(nil, Field, protowire.VarintType), 99),
		"another type":  protowire.AppendString(protowire.AppendTag(nil, Field, protowire.BytesType), "ready"),
		"cut off":       protowire.AppendTag(nil, Field, protowire.VarintType),
		"not even that": {0xff},
	} {
		t.Run(name, func(t *testing.T) {
			pod := &api.PodSandbox{}
			pod.ProtoReflect().SetUnknown(unknown)
			require.Equal(t, Unknown, Get(pod))
		})
	}
}

func FuzzGet(f *testing.F) {
	f.Add([]byte{0xc0, 0x3e, 0x02})
	f.Fuzz(func(t *testing.T, unknown []byte) {
		pod := &api.PodSandbox{}
		pod.ProtoReflect().SetUnknown(unknown)
		if s := Get(pod); s < Unknown || s > Stopped {
			t.Errorf("state %d", s)
		}
		Set(pod, Ready)
	})
}
