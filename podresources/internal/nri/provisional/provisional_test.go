// SPDX-License-Identifier: Apache-2.0

package provisional

import (
	"errors"
	"slices"
	"testing"

	"github.com/containerd/nri/pkg/api"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

func number(n protowire.Number, value uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(nil, n, protowire.VarintType), value)
}

func message(n protowire.Number, value string) []byte {
	return protowire.AppendString(protowire.AppendTag(nil, n, protowire.BytesType), value)
}

// sent returns the message as its receiver gets it.
func sent[M proto.Message](t *testing.T, m M) M {
	t.Helper()
	wire, err := proto.Marshal(m)
	require.NoError(t, err)
	got := m.ProtoReflect().New().Interface()
	require.NoError(t, proto.Unmarshal(wire, got))
	return got.(M)
}

// A field that was set arrives, and nothing else of the message changes.
func TestSetTravels(t *testing.T) {
	before := slices.Concat(number(999, 7), message(1002, "after"))
	pod := &api.PodSandbox{Id: "pod0"}
	pod.ProtoReflect().SetUnknown(before)
	got, err := Get(pod, Resources)
	require.NoError(t, err)
	require.Nil(t, got)

	for _, value := range []string{"long", "new", ""} {
		Set(pod, Resources, []byte(value))
		there := sent(t, pod)
		require.Equal(t, "pod0", there.GetId())
		got, err := Get(there, Resources)
		require.NoError(t, err)
		require.NotNil(t, got, "it exists, even if it is empty")
		require.Equal(t, value, string(got))
	}
	require.Equal(t, slices.Concat(before, message(Resources, "")), []byte(pod.ProtoReflect().GetUnknown()))

	Set(pod, Resources, nil)
	require.Equal(t, before, []byte(pod.ProtoReflect().GetUnknown()))
	got, err = Get(pod, Resources)
	require.NoError(t, err)
	require.Nil(t, got)
}

func TestContainersHaveResources(t *testing.T) {
	container := &api.Container{Id: "container0"}
	Set(container, Resources, []byte("asked"))
	got, err := Get(sent(t, container), Resources)
	require.NoError(t, err)
	require.Equal(t, "asked", string(got))
}

func TestGetInParts(t *testing.T) {
	pod := &api.PodSandbox{}
	pod.ProtoReflect().SetUnknown(slices.Concat(message(Resources, "a"), number(999, 7), message(Resources, "b")))
	got, err := Get(pod, Resources)
	require.NoError(t, err)
	require.Equal(t, "ab", string(got))
}

func TestGetErrors(t *testing.T) {
	for name, bad := range map[string]struct {
		unknown []byte
		want    string
	}{
		"varint":        {number(Resources, 7), "is a varint, want a message"},
		"32 bits":       {protowire.AppendFixed32(protowire.AppendTag(nil, Resources, protowire.Fixed32Type), 7), "is 32 bits, want a message"},
		"64 bits":       {protowire.AppendFixed64(protowire.AppendTag(nil, Resources, protowire.Fixed64Type), 7), "is 64 bits, want a message"},
		"group":         {protowire.AppendGroup(protowire.AppendTag(nil, Resources, protowire.StartGroupType), Resources, nil), "is a group, want a message"},
		"another later": {slices.Concat(message(Resources, "a"), number(Resources, 7)), "is a varint, want a message"},
		"cut off":       {message(Resources, "hello")[:5], "malformed: "},
		"no tag":        {[]byte{0xff}, "malformed: "},
	} {
		t.Run(name, func(t *testing.T) {
			pod := &api.PodSandbox{}
			pod.ProtoReflect().SetUnknown(bad.unknown)
			got, err := Get(pod, Resources)
			require.ErrorContains(t, err, bad.want)
			require.Nil(t, got)
		})
	}
}

// Bytes that were malformed from the start stay as they are.
func TestSetBesideGarbage(t *testing.T) {
	pod := &api.PodSandbox{}
	pod.ProtoReflect().SetUnknown(slices.Concat(message(Resources, "old"), []byte{0xff}))
	Set(pod, Resources, []byte("new"))
	require.Equal(t, slices.Concat([]byte{0xff}, message(Resources, "new")), []byte(pod.ProtoReflect().GetUnknown()))
}

func TestFieldsStopsWithTheFirstError(t *testing.T) {
	enough := errors.New("enough")
	var seen []protowire.Number
	err := Fields(slices.Concat(number(1, 7), message(2, "a"), message(3, "b")), func(n protowire.Number, kind protowire.Type, value []byte) error {
		seen = append(seen, n)
		if kind != protowire.BytesType {
			require.Nil(t, value)
			return nil
		}
		require.Equal(t, "a", string(value))
		return enough
	})
	require.ErrorIs(t, err, enough)
	require.Equal(t, []protowire.Number{1, 2}, seen)
}
