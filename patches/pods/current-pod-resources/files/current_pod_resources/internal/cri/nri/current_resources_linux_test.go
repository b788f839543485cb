// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"testing"

	"github.com/stretchr/testify/require"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/containerd/containerd/v2/core/sandbox"
	"github.com/containerd/containerd/v2/internal/cri/server/podsandbox"
	sstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
)

func limited(bytes int64) *cri.LinuxContainerResources {
	return &cri.LinuxContainerResources{MemoryLimitInBytes: bytes}
}

// Plugins receive the resources of the last update. What it left out is as it was.
func TestResourcesOfAPodAreThoseOfItsLastUpdate(t *testing.T) {
	config := &cri.PodSandboxConfig{Linux: &cri.LinuxPodSandboxConfig{Resources: limited(66), Overhead: limited(5)}}
	sb := sstore.NewSandbox(sstore.Metadata{ID: "pod0", Config: config}, sstore.Status{})
	for name, test := range map[string]struct {
		update              *podsandbox.UpdatedResources
		resources, overhead int64
	}{
		"none":      {nil, 66, 5},
		"resources": {&podsandbox.UpdatedResources{Resources: limited(100)}, 100, 5},
		"both":      {&podsandbox.UpdatedResources{Resources: limited(100), Overhead: limited(7)}, 100, 7},
	} {
		t.Run(name, func(t *testing.T) {
			record := &sandbox.Sandbox{ID: "pod0"}
			if test.update != nil {
				require.NoError(t, record.AddExtension(podsandbox.UpdatedResourcesKey, test.update))
			}
			pod := &criPodSandbox{Sandbox: &sb, updated: updatedResources(record)}
			require.Equal(t, test.resources, pod.GetPodLinuxResources().GetMemory().GetLimit().GetValue())
			require.Equal(t, test.overhead, pod.GetPodLinuxOverhead().GetMemory().GetLimit().GetValue())
		})
	}
}
