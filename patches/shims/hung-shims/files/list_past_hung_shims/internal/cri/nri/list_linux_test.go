// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"context"
	"errors"
	"testing"

	runtimespec "github.com/opencontainers/runtime-spec/specs-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	containerd "github.com/containerd/containerd/v2/client"
	"github.com/containerd/containerd/v2/core/containers"
	cstore "github.com/containerd/containerd/v2/internal/cri/store/container"
	"github.com/containerd/containerd/v2/internal/cri/store/label"
	"github.com/containerd/containerd/v2/pkg/cio"
	"github.com/containerd/containerd/v2/pkg/oci"
	"github.com/containerd/errdefs"
	"github.com/containerd/nri/pkg/api"
)

// All containers that have not exited and are not being removed are listed, with their stored data.
func TestContainersAreListedWithoutTheirShims(t *testing.T) {
	const created, started, finished = 1, 2, 3
	cri := listCRI{store: cstore.NewStore(label.NewStore(), nil)}
	for id, status := range map[string]cstore.Status{
		"created":        {CreatedAt: created},
		"cut-when-new":   {CreatedAt: created, Pid: 4},
		"being-started":  {CreatedAt: created, Starting: true, Pid: 5},
		"running":        {CreatedAt: created, StartedAt: started, Pid: 6},
		"does-not-tell":  {CreatedAt: created, StartedAt: started, Pid: 7, Unknown: true},
		"exited":         {CreatedAt: created, StartedAt: started, FinishedAt: finished},
		"failed-at-once": {CreatedAt: created, FinishedAt: finished},
		"being-removed":  {CreatedAt: created, Removing: true},
	} {
		ctr, err := cstore.NewContainer(cstore.Metadata{ID: id}, cstore.WithStatus(status, t.TempDir()), cstore.WithContainer(listed{t: t, id: id}))
		require.NoError(t, err)
		require.NoError(t, cri.store.Add(ctr))
	}

	type line struct {
		pid   uint32
		state api.ContainerState
	}
	seen := map[string]line{}
	for _, ctr := range NewAPI(nil, cri).ListContainers() {
		status := ctr.GetStatus()
		seen[ctr.GetID()] = line{status.Pid, status.State}
	}
	assert.Equal(t, map[string]line{
		"created":       {0, api.ContainerState_CONTAINER_CREATED},
		"cut-when-new":  {0, api.ContainerState_CONTAINER_CREATED},
		"being-started": {5, api.ContainerState_CONTAINER_CREATED},
		"running":       {6, api.ContainerState_CONTAINER_RUNNING},
		"does-not-tell": {7, api.ContainerState_CONTAINER_UNKNOWN},
	}, seen)
}

// A container whose record is deleted while it is read is not listed.
func TestContainerThatIsRemovedMeanwhileIsNotListed(t *testing.T) {
	cri := listCRI{store: cstore.NewStore(label.NewStore(), nil)}
	goes := &removedMeanwhile{listed: listed{t: t, id: "goes"}}
	ctr, err := cstore.NewContainer(cstore.Metadata{ID: "goes"}, cstore.WithStatus(cstore.Status{CreatedAt: 1}, t.TempDir()), cstore.WithContainer(goes))
	require.NoError(t, err)
	goes.status = ctr.Status
	require.NoError(t, cri.store.Add(ctr))
	assert.Empty(t, NewAPI(nil, cri).ListContainers())
}

type removedMeanwhile struct {
	listed
	status cstore.StatusStorage
}

func (r *removedMeanwhile) Spec(context.Context) (*oci.Spec, error) {
	err := r.status.Update(func(s cstore.Status) (cstore.Status, error) {
		s.Removing = true
		return s, nil
	})
	return nil, errors.Join(err, errdefs.ErrNotFound)
}

// listCRI is a CRI that has a container store.
type listCRI struct {
	CRIImplementation
	store *cstore.Store
}

func (c listCRI) ContainerStore() *cstore.Store { return c.store }

// listed is a container whose shim must not be asked.
type listed struct {
	containerd.Container
	t  *testing.T
	id string
}

func (l listed) ID() string { return l.id }

func (l listed) Info(context.Context, ...containerd.InfoOpts) (containers.Container, error) {
	return containers.Container{ID: l.id}, nil
}

func (l listed) Spec(context.Context) (*oci.Spec, error) { return &oci.Spec{}, nil }

func (l listed) Task(context.Context, cio.Attach) (containerd.Task, error) {
	l.t.Errorf("the shim of %q was asked", l.id)
	return nil, errors.New("it does not answer")
}

// A container without a record has no limits.
func TestContainerWithoutASpecHasNoLimits(t *testing.T) {
	require.Empty(t, (&criContainer{spec: &runtimespec.Spec{}}).GetRlimits())
}
