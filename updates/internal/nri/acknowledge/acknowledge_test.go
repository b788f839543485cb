// SPDX-License-Identifier: Apache-2.0

package acknowledge

import (
	"testing"

	"github.com/containerd/nri/pkg/api"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

func number(n protowire.Number, value uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(nil, n, protowire.VarintType), value)
}

// The mark travels with the update, and nothing else of it changes.
func TestMarkTravels(t *testing.T) {
	update := &api.ContainerUpdate{ContainerId: "c"}
	update.ProtoReflect().SetUnknown(number(999, 7))
	require.False(t, Asked(update))
	Ask(update)
	Ask(update)
	require.Equal(t, append(number(999, 7), number(Field, 1)...), []byte(update.ProtoReflect().GetUnknown()))

	wire, err := proto.Marshal(update)
	require.NoError(t, err)
	got := &api.ContainerUpdate{}
	require.NoError(t, proto.Unmarshal(wire, got))
	require.True(t, Asked(got))
	require.Equal(t, "c", got.GetContainerId())
}

// What another plugin puts into the field never fails a runtime.
func TestOtherContentIsNoMark(t *testing.T) {
	for name, unknown := range map[string][]byte{
		"none":          nil,
		"false":         number(Field, 0),
		"taken back":    append(number(Field, 1), number(Field, 0)...),
		"another type":  protowire.AppendString(protowire.AppendTag(nil, Field, protowire.BytesType), "yes"),
		"cut off":       protowire.AppendTag(nil, Field, protowire.VarintType),
		"not even that": {0xff},
	} {
		t.Run(name, func(t *testing.T) {
			update := &api.ContainerUpdate{}
			update.ProtoReflect().SetUnknown(unknown)
			require.False(t, Asked(update))
		})
	}
}

func FuzzAsked(f *testing.F) {
	f.Add([]byte{0xc0, 0x3e, 0x01})
	f.Fuzz(func(t *testing.T, unknown []byte) {
		update := &api.ContainerUpdate{}
		update.ProtoReflect().SetUnknown(unknown)
		Asked(update)
	})
}
