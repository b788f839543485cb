// SPDX-License-Identifier: Apache-2.0

package podresources

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// A runtime reads the resources that a client sets, and nothing else changes.
func TestSetIsRead(t *testing.T) {
	pod := &PodResourceConfig{Containers: []*ContainerResourceConfig{web()}, KubernetesResources: requests("cpu", "2")}
	ctr := web().GetKubernetesResources()

	sandbox := config(t, str(2, "host"), num(11, 7))
	require.NoError(t, Set(sandbox, pod))
	sandbox = sent(t, sandbox)
	got, err := Decode(sandbox)
	require.NoError(t, err)
	equal(t, pod, got)
	require.NoError(t, Set(sandbox, pod)) // again: in its place
	require.NoError(t, Set(sandbox, nil))
	equal(t, config(t, str(2, "host"), num(11, 7)), sandbox)

	const hangUp runtime.Signal = 8 // its name differs between versions of CRI
	create := &runtime.ContainerConfig{StopSignal: hangUp}
	require.NoError(t, SetContainer(create, ctr))
	create = sent(t, create)
	read, err := FromContainer(create)
	require.NoError(t, err)
	equal(t, ctr, read)
	require.Equal(t, hangUp, create.GetStopSignal())

	update := &runtime.UpdateContainerResourcesRequest{ContainerId: "c", Annotations: map[string]string{"a": "b"}}
	require.NoError(t, SetUpdate(update, ctr))
	read, err = FromUpdate(sent(t, update))
	require.NoError(t, err)
	equal(t, ctr, read)

	podUpdate := &runtime.UpdatePodSandboxResourcesRequest{PodSandboxId: "p", Resources: &runtime.LinuxContainerResources{}}
	require.NoError(t, SetPodUpdate(podUpdate, pod))
	got, err = FromPodUpdate(sent(t, podUpdate))
	require.NoError(t, err)
	equal(t, pod, got)
}

// A client gets the error that a runtime would have.
func TestSetRejectsInvalidResources(t *testing.T) {
	sandbox := config(t)
	twice := &PodResourceConfig{Containers: []*ContainerResourceConfig{web(), web()}}
	require.EqualError(t, Set(sandbox, twice), `field 10 of PodSandboxConfig: two containers have the name "web", number 1 and number 2`)
	require.EqualError(t, SetContainer(&runtime.ContainerConfig{}, requests("cpu", "-1")),
		`field 1018 of ContainerConfig: requests: "cpu": quantity "-1": is negative`)
	require.Error(t, Set(sandbox, &PodResourceConfig{Containers: []*ContainerResourceConfig{{Name: "\xff"}}}))
	require.Error(t, Set(sandbox, &PodResourceConfig{Containers: []*ContainerResourceConfig{nil}}))
	require.Empty(t, sandbox.ProtoReflect().GetUnknown())
}

func TestContainerFieldsOfAnotherMeaning(t *testing.T) {
	create := &runtime.ContainerConfig{}
	for _, unknown := range []protoreflect.RawFields{num(1018, 3), str(1018, "hello"), msg(1018, str(9, "x")), msg(1018, quantity(1, "cpu", "x"))} {
		create.ProtoReflect().SetUnknown(unknown)
		got, err := FromContainer(create)
		require.ErrorContains(t, err, "field 1018 of ContainerConfig: ")
		require.Nil(t, got)
	}
}

// The KEP's numbers are free in CRI. Once they are not, CRI has its own messages.
func TestNumbersAreFree(t *testing.T) {
	for number, m := range map[protoreflect.FieldNumber]proto.Message{
		FieldOfPod:       &runtime.PodSandboxConfig{},
		FieldOfContainer: &runtime.ContainerConfig{},
		FieldOfUpdate:    &runtime.UpdateContainerResourcesRequest{},
		FieldOfPodUpdate: &runtime.UpdatePodSandboxResourcesRequest{},
	} {
		d := m.ProtoReflect().Descriptor()
		require.Nil(t, d.Fields().ByNumber(number), "%s %d", d.Name(), number)
	}
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
