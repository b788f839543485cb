// SPDX-License-Identifier: Apache-2.0

package server

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/containerd/containerd/v2/internal/cri/podresources"
	sandboxstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
)

// An announcement of more than the machine has is ignored if it comes from the pod's author,
// and taken if it comes from a client.
func TestR4_MoreThanTheMachineHasIsIgnored(t *testing.T) {
	assert.GreaterOrEqual(t, thisMachine().CPUs, int64(runtime.NumCPU()))
	assert.Greater(t, thisMachine().Memory, int64(64<<20))
	for source, ignored := range map[podresources.Source]bool{podresources.Field: false, podresources.FromPod: true} {
		ctx, text := logged(t)
		c := newTestCRIService()
		c.config.PodResourcesAnnotation = true
		config := &cri.PodSandboxConfig{Metadata: &cri.PodSandboxMetadata{Name: "shop", Namespace: "default"}}
		asks := webAsks("1000000")
		if source == podresources.Field {
			assert.NoError(t, podresources.Set(config, asks))
		} else {
			annotation, err := podresources.ToAnnotation(asks)
			assert.NoError(t, err)
			config.Annotations = map[string]string{podresources.Annotation: annotation}
		}
		sb := sandboxstore.NewSandbox(sandboxstore.Metadata{ID: "id", Config: config}, sandboxstore.Status{})
		c.takeAnnouncement(ctx, &sb)
		assert.Equal(t, ignored, sb.Status.Get().PodResources == nil, source)
		if ignored {
			assert.Contains(t, text.String(), `it requests 1M of \"cpu\", and the machine has `)
		}
	}
}
