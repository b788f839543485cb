// SPDX-License-Identifier: Apache-2.0

package podresources

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// The tests put the bytes that they send together from field numbers, since a sender has messages of
// its own.

func msg(number protowire.Number, parts ...[]byte) []byte {
	var content []byte
	for _, part := range parts {
		content = append(content, part...)
	}
	return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), content)
}

func str(number protowire.Number, text string) []byte {
	return msg(number, []byte(text))
}

func num(number protowire.Number, value uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(nil, number, protowire.VarintType), value)
}

// quantity is an entry of the maps of requests (1) and limits (2).
func quantity(number protowire.Number, name, text string) []byte {
	return msg(number, str(1, name), msg(2, str(1, text)))
}

func requests(name, text string) *KubernetesResources {
	return &KubernetesResources{Requests: map[string]*wrapperspb.StringValue{name: wrapperspb.String(text)}}
}

// web returns a container with a bit of everything.
func web() *ContainerResourceConfig {
	return &ContainerResourceConfig{
		Name: "web",
		Type: ContainerType_CONTAINER.Enum(),
		KubernetesResources: &KubernetesResources{
			Requests: map[string]*wrapperspb.StringValue{"cpu": wrapperspb.String("500m")},
			Limits:   map[string]*wrapperspb.StringValue{"memory": wrapperspb.String("1Gi")},
		},
		Mounts:     []*runtime.Mount{{ContainerPath: "/data", HostPath: "/srv/data", Readonly: true}},
		Devices:    []*runtime.Device{{ContainerPath: "/dev/null", HostPath: "/dev/zero", Permissions: "rw"}},
		CDIDevices: []*runtime.CDIDevice{{Name: "vendor.com/gpu=0"}},
	}
}

func equal(t *testing.T, want, got proto.Message) {
	t.Helper()
	if !proto.Equal(want, got) {
		t.Errorf("want %v\n got %v", want, got)
	}
}

// config returns a PodSandboxConfig that has these bytes as unknown fields.
func config(t *testing.T, unknown ...[]byte) *runtime.PodSandboxConfig {
	t.Helper()
	c := &runtime.PodSandboxConfig{}
	var wire []byte
	for _, part := range unknown {
		wire = append(wire, part...)
	}
	require.NoError(t, proto.Unmarshal(wire, c))
	return c
}
