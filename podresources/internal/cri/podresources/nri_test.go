// SPDX-License-Identifier: Apache-2.0

package podresources

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/hookline-nri/hookline/podresources/internal/nri/provisional"
)

// Any message that does not know the field can be used here. The tests of the plugins' side use
// NRI's.
func TestNRIPodBesideOthers(t *testing.T) {
	pod := &emptypb.Empty{}
	pod.ProtoReflect().SetUnknown(num(1000, 2)) // the pod's state
	want := announced(t, Field, web())
	provisional.Set(pod, provisional.Resources, want.Wire())
	provisional.Set(pod, provisional.Resources, want.Wire())
	got, err := FromNRIPod(sent(t, pod))
	require.NoError(t, err)
	equal(t, want.Config(), got)
	require.Equal(t, num(1000, 2), []byte(pod.ProtoReflect().GetUnknown()[:3]))

	provisional.Set(pod, provisional.Resources, (*Announcement)(nil).Wire())
	require.Equal(t, num(1000, 2), []byte(pod.ProtoReflect().GetUnknown()))
	got, err = FromNRIPod(pod)
	require.NoError(t, err)
	require.Nil(t, got)
}

func TestNRIContainer(t *testing.T) {
	container := &emptypb.Empty{}
	provisional.Set(container, provisional.Resources, requests("cpu", "1").Wire())
	got, err := FromNRIContainer(sent(t, container))
	require.NoError(t, err)
	equal(t, requests("cpu", "1"), got)
	provisional.Set(container, provisional.Resources, (*KubernetesResources)(nil).Wire())
	require.Empty(t, container.ProtoReflect().GetUnknown())
}

// The error for malformed bytes beside the field says where they are. They do no harm.
func TestNRIPodBesideGarbage(t *testing.T) {
	pod := &emptypb.Empty{}
	pod.ProtoReflect().SetUnknown([]byte{0xff})
	provisional.Set(pod, provisional.Resources, []byte{})
	require.Equal(t, byte(0xff), pod.ProtoReflect().GetUnknown()[0])
	_, err := FromNRIPod(pod)
	require.ErrorContains(t, err, "field 1001 of Empty: malformed: ")
}
