// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"errors"
	"maps"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	containerd "github.com/containerd/containerd/v2/client"
	"github.com/containerd/containerd/v2/core/sandbox"
	"github.com/containerd/containerd/v2/internal/cri/server/podsandbox"
	sandboxstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
)

// A sizedController keeps the memory limits that it receives, and fails once.
type sizedController struct {
	fakeSandboxService
	fails  error
	limits []int64
}

func (c *sizedController) UpdateSandbox(_ context.Context, _ string, _ string, record sandbox.Sandbox, _ ...string) error {
	updated := podsandbox.UpdatedResources{}
	if err := record.GetExtension(podsandbox.UpdatedResourcesKey, &updated); err != nil {
		return err
	}
	c.limits = append(c.limits, updated.Resources.GetMemoryLimitInBytes())
	fails := c.fails
	c.fails = nil
	return fails
}

// A sizedRecord is the store of one sandbox.
type sizedRecord struct {
	sandbox.Store
	record sandbox.Sandbox
	full   error // why it cannot be written
}

func (s *sizedRecord) Get(context.Context, string) (sandbox.Sandbox, error) {
	record := s.record
	record.Extensions = maps.Clone(record.Extensions)
	return record, nil
}

func (s *sizedRecord) Update(_ context.Context, record sandbox.Sandbox, _ ...string) (sandbox.Sandbox, error) {
	if s.full == nil {
		s.record = record
	}
	return record, s.full
}

// An update that fails changes neither the status nor the record. The controller receives it once.
func TestFailedUpdateOfAPodIsNotRecorded(t *testing.T) {
	late, full := errors.New("timed out"), errors.New("disk is full")
	for name, test := range map[string]struct {
		updated     bool // before
		fails, full error
	}{
		"the controller fails it":       {fails: late},
		"the controller fails a second": {updated: true, fails: late},
		"its record is not written":     {full: full},
		"nor that of a second":          {updated: true, full: full},
		"it holds":                      {updated: true},
	} {
		t.Run(name, func(t *testing.T) {
			c := newTestCRIService()
			controller, store := &sizedController{}, &sizedRecord{record: sandbox.Sandbox{ID: "id"}}
			client, err := containerd.New("", containerd.WithServices(containerd.WithSandboxStore(store)))
			require.NoError(t, err)
			c.client, c.sandboxService = client, controller
			memory := func(limit int64) *runtime.LinuxContainerResources {
				return &runtime.LinuxContainerResources{MemoryLimitInBytes: limit}
			}
			meta := sandboxstore.Metadata{ID: "id", Config: &runtime.PodSandboxConfig{
				Metadata: &runtime.PodSandboxMetadata{Name: "pod"}, Linux: &runtime.LinuxPodSandboxConfig{Resources: memory(100)}}}
			require.NoError(t, c.sandboxStore.Add(sandboxstore.NewSandbox(meta, sandboxstore.Status{})))
			sb, err := c.sandboxStore.Get("id")
			require.NoError(t, err)
			update := func(limit int64) error {
				_, err := c.UpdatePodSandboxResources(t.Context(), &runtime.UpdatePodSandboxResourcesRequest{PodSandboxId: "id", Resources: memory(limit)})
				return err
			}
			asked := []int64{700}
			if test.updated {
				require.NoError(t, update(300))
				asked = []int64{300, 700}
			}
			status, record := sb.Status.Get(), store.record

			controller.fails, store.full = test.fails, test.full
			err = update(700)
			assert.Equal(t, asked, controller.limits)
			if failure := errors.Join(test.fails, test.full); failure != nil {
				require.ErrorContains(t, err, failure.Error())
				assert.Equal(t, status, sb.Status.Get())
				assert.Equal(t, record, store.record)
				return
			}
			require.NoError(t, err)
			assert.EqualValues(t, 700, sb.Status.Get().Resources.GetLinux().GetMemoryLimitInBytes())
		})
	}
}
