// SPDX-License-Identifier: Apache-2.0

package server

import (
	"cmp"
	"context"
	"errors"
	"testing"

	runtimespec "github.com/opencontainers/runtime-spec/specs-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/containerd/containerd/v2/client"
	"github.com/containerd/containerd/v2/core/containers"
	"github.com/containerd/containerd/v2/internal/cri/store/container"
	"github.com/containerd/containerd/v2/pkg/cio"
	"github.com/containerd/errdefs"
	"github.com/containerd/typeurl/v2"
)

// A sizedContainer is a running container with a memory limit.
type sizedContainer struct {
	client.Container
	recorded int64
	task     sizedTask
	full     error  // why its record cannot be written
	applied  func() // called when the task has an update
}

// A sizedTask has a memory limit.
type sizedTask struct {
	client.Task
	of    *sizedContainer
	limit int64
	fails error // why it cannot be updated
	seen  int64 // what was recorded when it was updated last
}

func (c *sizedContainer) Spec(context.Context) (*runtimespec.Spec, error) {
	limit := c.recorded
	return &runtimespec.Spec{Linux: &runtimespec.Linux{Resources: &runtimespec.LinuxResources{Memory: &runtimespec.LinuxMemory{Limit: &limit}}}}, nil
}

func (c *sizedContainer) Task(context.Context, cio.Attach) (client.Task, error) {
	return &c.task, nil
}

func (c *sizedContainer) Update(ctx context.Context, opts ...client.UpdateContainerOpts) error {
	if c.full != nil {
		return c.full
	}
	var record containers.Container
	for _, opt := range opts {
		if err := opt(ctx, nil, &record); err != nil {
			return err
		}
	}
	var spec runtimespec.Spec
	if err := typeurl.UnmarshalTo(record.Spec, &spec); err != nil {
		return err
	}
	c.recorded = *spec.Linux.Resources.Memory.Limit
	return ctx.Err()
}

func (t *sizedTask) Update(ctx context.Context, opts ...client.UpdateTaskOpts) error {
	var info client.UpdateTaskInfo
	for _, opt := range opts {
		if err := opt(ctx, nil, &info); err != nil {
			return err
		}
	}
	t.seen = t.of.recorded
	if t.fails != nil {
		return t.fails
	}
	t.limit = *info.Resources.(*runtimespec.LinuxResources).Memory.Limit
	if t.of.applied != nil {
		t.of.applied()
	}
	return nil
}

// A record has the resources of an update once the container has them.
func TestUpdateIsRecordedWhenItHolds(t *testing.T) {
	const before, asked = 100 << 20, 200 << 20
	for name, test := range map[string]struct {
		fails, full error
		running     bool
		exited      bool // whether the task no longer exists
		leaves      bool // whether the caller leaves when the container has the new limit
		want        int64
	}{
		"it holds":                       {running: true, want: asked},
		"the caller leaves":              {running: true, leaves: true, want: asked},
		"the container has exited":       {running: true, exited: true, want: asked},
		"runc rejects it":                {running: true, fails: errors.New("no memory left"), want: before},
		"the record cannot be written":   {running: true, full: errors.New("no space left"), want: before},
		"the container does not run yet": {want: asked},
	} {
		t.Run(name, func(t *testing.T) {
			c := newTestCRIService()
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			ctr := &sizedContainer{recorded: before, full: test.full}
			ctr.task = sizedTask{of: ctr, limit: before, fails: test.fails}
			if test.exited {
				ctr.task.fails = errdefs.ErrNotFound
			}
			if test.leaves {
				ctr.applied = leave
			}
			status := container.Status{CreatedAt: 1, Resources: &cri.ContainerResources{Linux: &cri.LinuxContainerResources{MemoryLimitInBytes: before}}}
			if test.running {
				status.StartedAt = 2
			}
			updated, err := c.updateContainerResources(ctx, container.Container{Metadata: container.Metadata{ID: "id"}, Container: ctr},
				&cri.UpdateContainerResourcesRequest{ContainerId: "id", Linux: &cri.LinuxContainerResources{MemoryLimitInBytes: asked}}, status)
			require.ErrorIs(t, err, cmp.Or(test.fails, test.full))
			assert.Equal(t, test.want, ctr.recorded)
			assert.Equal(t, test.want, updated.Resources.Linux.MemoryLimitInBytes)
			if !test.running || test.exited {
				assert.EqualValues(t, before, ctr.task.limit, "the task is not updated")
				return
			}
			assert.Equal(t, test.want, ctr.task.limit)
			assert.EqualValues(t, before, ctr.task.seen, "the record changes after the container")
		})
	}
}
