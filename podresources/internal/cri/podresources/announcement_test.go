// SPDX-License-Identifier: Apache-2.0

package podresources

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/hookline-nri/hookline/podresources/internal/nri/provisional"
)

func announced(t *testing.T, source Source, containers ...*ContainerResourceConfig) *Announcement {
	t.Helper()
	a, err := NewAnnouncement(&PodResourceConfig{Containers: containers}, source)
	require.NoError(t, err)
	return a
}

func TestFieldWinsOverAnnotation(t *testing.T) {
	pod := config(t, num(11, 7))
	got, source, err := Take(pod, true)
	require.NoError(t, err)
	require.Nil(t, got)
	require.Equal(t, None, source)

	pod.Annotations = map[string]string{Annotation: webText}
	got, source, err = Take(pod, true)
	require.NoError(t, err)
	require.Equal(t, FromPod, source)
	require.Equal(t, "web", got.Config().GetContainers()[0].GetName())

	require.NoError(t, Set(pod, &PodResourceConfig{Containers: []*ContainerResourceConfig{{Name: "other"}}}))
	got, source, err = Take(pod, true)
	require.NoError(t, err)
	require.Equal(t, Field, source)
	require.Equal(t, "other", got.Config().GetContainers()[0].GetName())
	require.Equal(t, num(11, 7), []byte(pod.ProtoReflect().GetUnknown()), "the field is removed, and the rest stays")

	provisional.Set(pod, FieldOfPod, []byte{0xff})
	got, source, err = Take(pod, true)
	require.ErrorContains(t, err, "field 10 of PodSandboxConfig: malformed")
	require.Equal(t, Field, source)
	require.Nil(t, got)
}

func TestAnnotationIsOff(t *testing.T) {
	pod := config(t)
	pod.Annotations = map[string]string{Annotation: webText}
	got, source, err := Take(pod, false)
	require.NoError(t, err)
	require.Nil(t, got)
	require.Equal(t, None, source)
}

// A field that cannot be read may have a meaning for others. It stays, unless it is too large.
func TestTakeLeavesUnreadableFields(t *testing.T) {
	for name, tc := range map[string]struct {
		wire  []byte
		stays bool
	}{
		"another meaning": {str(10, "po"), true},
		"malformed":       {str(10, "hello"), true},
		"too large":       {str(10, strings.Repeat("x", MaxSize)), false},
	} {
		t.Run(name, func(t *testing.T) {
			pod := config(t, tc.wire)
			_, _, err := Take(pod, true)
			require.Error(t, err)
			assert.Equal(t, tc.stays, bytes.Equal(tc.wire, pod.ProtoReflect().GetUnknown()))
			assert.Equal(t, !tc.stays, len(pod.ProtoReflect().GetUnknown()) == 0)
		})
	}
}

// A sandboxer reads the field, whatever the source of the resources.
func TestPut(t *testing.T) {
	pod := config(t, num(11, 7))
	pod.Annotations = map[string]string{Annotation: webText}
	a, _, err := Take(pod, true)
	require.NoError(t, err)
	got, err := Decode(sent(t, a.Put(pod)))
	require.NoError(t, err)
	equal(t, &PodResourceConfig{Containers: []*ContainerResourceConfig{web()}, KubernetesResources: requests("cpu", "2")}, got)
	assert.Equal(t, num(11, 7), []byte(pod.ProtoReflect().GetUnknown()), "the pod's own stays as it is")
	assert.Same(t, pod, (*Announcement)(nil).Put(pod))
}

func TestWithContainer(t *testing.T) {
	before := announced(t, Field,
		&ContainerResourceConfig{Name: "web", KubernetesResources: requests("cpu", "1")},
		&ContainerResourceConfig{Name: "log", KubernetesResources: requests("cpu", "2")})
	cpu := func(a *Announcement, name string) string {
		return a.Container(name).GetKubernetesResources().GetRequests()["cpu"].GetValue()
	}
	after, err := before.WithContainer("web", requests("cpu", "3"))
	require.NoError(t, err)
	assert.Equal(t, "3", cpu(after, "web"))
	assert.Equal(t, "2", cpu(after, "log"))
	assert.Equal(t, "1", cpu(before, "web"))
	travelled, err := decodePod(after.Wire())
	require.NoError(t, err)
	equal(t, after.Config(), travelled)

	for name, asked := range map[string]*KubernetesResources{"debug": requests("cpu", "3"), "web": requests("cpu", "1")} {
		same, err := before.WithContainer(name, asked)
		require.NoError(t, err)
		assert.Same(t, before, same, "%s: it changes nothing", name)
	}
	none, err := (*Announcement)(nil).WithContainer("web", requests("cpu", "3"))
	require.NoError(t, err)
	assert.Nil(t, none)
}

// Updates do not grow it beyond the size that can be sent.
func TestWithContainerIsBounded(t *testing.T) {
	huge := &KubernetesResources{Requests: requests("cpu", "1").Requests}
	for i := range 600 {
		huge.Requests[fmt.Sprintf("%d%s", i, strings.Repeat("x", 500))] = huge.Requests["cpu"]
	}
	before := announced(t, Field, &ContainerResourceConfig{Name: "web"})
	after, err := before.WithContainer("web", huge)
	require.ErrorIs(t, err, errTooLarge)
	assert.Nil(t, after)
}

func TestKept(t *testing.T) {
	for _, source := range []Source{Field, FromPod} {
		a := announced(t, source, web())
		wire, err := proto.Marshal(a.Kept())
		require.NoError(t, err)
		kept := &KeptAnnouncement{}
		require.NoError(t, proto.Unmarshal(wire, kept))
		again, err := FromKept(kept)
		require.NoError(t, err)
		equal(t, a.Config(), again.Config())
		assert.Equal(t, a.partial(), again.partial())
		assert.Equal(t, a.Wire(), again.Wire())
	}
	_, err := FromKept(&KeptAnnouncement{Config: &PodResourceConfig{Containers: []*ContainerResourceConfig{{}}}})
	assert.ErrorContains(t, err, "container 1 of 1: has no name")
}

func TestNothingAnnounced(t *testing.T) {
	var a *Announcement
	assert.Nil(t, a.Wire())
	assert.Nil(t, a.Config())
	assert.Nil(t, a.Container("web"))
}
