// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"testing"

	"github.com/containerd/errdefs"
	"github.com/stretchr/testify/require"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	cstore "github.com/containerd/containerd/v2/internal/cri/store/container"
	"github.com/containerd/containerd/v2/internal/cri/store/label"
	sstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
)

// storesCRI is a CRI that has only its stores.
type storesCRI struct {
	CRIImplementation
	pods       *sstore.Store
	containers *cstore.Store
}

func (c storesCRI) SandboxStore() *sstore.Store   { return c.pods }
func (c storesCRI) ContainerStore() *cstore.Store { return c.containers }

// The namespace is that of the sandbox that has both the uid and the container.
func TestPodNamespace(t *testing.T) {
	labels := label.NewStore()
	cri := storesCRI{pods: sstore.NewStore(labels, nil), containers: cstore.NewStore(labels, nil)}
	for _, s := range []struct{ id, uid, namespace, container string }{
		{"aa", "uid-a", "system", "a1"},
		{"ab", "uid-a", "system", "b1"}, // the same pod, started again
		{"c", "uid-c", "user", "c1"},
		{"d", "uid-d", "system", "d1"}, // two pods with one uid
		{"e", "uid-d", "user", "e1"},
	} {
		require.NoError(t, cri.pods.Add(sstore.NewSandbox(sstore.Metadata{ID: s.id, Config: &runtime.PodSandboxConfig{
			Metadata: &runtime.PodSandboxMetadata{Uid: s.uid, Namespace: s.namespace},
		}}, sstore.Status{})))
		ctr, err := cstore.NewContainer(cstore.Metadata{ID: s.container, SandboxID: s.id}, cstore.WithStatus(cstore.Status{}, t.TempDir()))
		require.NoError(t, err)
		require.NoError(t, cri.containers.Add(ctr))
	}
	a := NewAPI(nil, cri)
	for _, test := range []struct{ uid, container, namespace string }{
		{"uid-a", "", "system"},
		{"uid-a", "a1", "system"},
		{"uid-a", "b1", "system"},
		{"uid-a", "aa", "system"}, // the sandbox
		{"uid-c", "c1", "user"},
		{"uid-d", "d1", "system"},
		{"uid-d", "e1", "user"},
	} {
		namespace, err := a.PodNamespace(test.uid, test.container)
		require.NoError(t, err, test)
		require.Equal(t, test.namespace, namespace, test)
	}
	for _, unknown := range [][2]string{{"uid-x", ""}, {"uid-a", "c1"}, {"uid-c", "a1"}, {"uid-a", "x1"}, {"uid-a", "a"}} {
		_, err := a.PodNamespace(unknown[0], unknown[1])
		require.ErrorIs(t, err, errdefs.ErrNotFound, unknown)
	}
	_, err := a.PodNamespace("uid-d", "")
	require.ErrorIs(t, err, errdefs.ErrFailedPrecondition)
}
