// SPDX-License-Identifier: Apache-2.0

package podresources

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/emptypb"
)

// Any message will do that does not know the field; NRI's are tried where
// plugins read them.
func TestAttachedBesideOthers(t *testing.T) {
	pod := &emptypb.Empty{}
	pod.ProtoReflect().SetUnknown(num(1000, 2)) // the pod's state
	want := announced(t, Field, web())
	Attach(pod, want.Wire())
	Attach(pod, want.Wire())
	got, err := Attached(sent(t, pod))
	require.NoError(t, err)
	equal(t, want.Config(), got)
	require.Equal(t, num(1000, 2), []byte(pod.ProtoReflect().GetUnknown()[:3]))

	Attach(pod, nil)
	require.Equal(t, num(1000, 2), []byte(pod.ProtoReflect().GetUnknown()))
	got, err = Attached(pod)
	require.NoError(t, err)
	require.Nil(t, got)
}

func TestAttachedContainer(t *testing.T) {
	container := &emptypb.Empty{}
	Attach(container, requests("cpu", "1").Wire())
	got, err := AttachedContainer(sent(t, container))
	require.NoError(t, err)
	equal(t, requests("cpu", "1"), got)
	Attach(container, (*KubernetesResources)(nil).Wire())
	require.Empty(t, container.ProtoReflect().GetUnknown())
}

// What was malformed from the start stays as it is, and does no harm.
func TestAttachBesideGarbage(t *testing.T) {
	pod := &emptypb.Empty{}
	pod.ProtoReflect().SetUnknown([]byte{0xff})
	Attach(pod, []byte{})
	require.Equal(t, byte(0xff), pod.ProtoReflect().GetUnknown()[0])
	_, err := Attached(pod)
	require.ErrorContains(t, err, "field 1001 of Empty: malformed: ")
}
