// SPDX-License-Identifier: Apache-2.0

package server

import (
	"testing"

	"github.com/containerd/errdefs"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/containerd/containerd/v2/internal/cri/podresources"
)

func TestCheckAnnounced(t *testing.T) {
	asAnnounced := []*runtime.Mount{{ContainerPath: "/data", HostPath: "/srv/data"}}
	for name, tc := range map[string]struct {
		check  string
		name   string
		mounts []*runtime.Mount
		asks   *podresources.KubernetesResources
		fails  string
	}{
		"as announced":                 {check: "enforce", name: "web", mounts: asAnnounced},
		"without a mount":              {check: "enforce", name: "web", fails: `container "web" of pod default/shop differs from what was announced with the pod: mounts[/data]: announced`},
		"without a mount, warn":        {check: "warn", name: "web"},
		"without a mount, off":         {check: "off", name: "web"},
		"asks for more":                {check: "enforce", name: "web", mounts: asAnnounced, asks: cpu("2"), fails: "requests[cpu]: announced 1, got 2"},
		"asks the same in other words": {check: "enforce", name: "web", mounts: asAnnounced, asks: cpu("1000m")},
		"ephemeral":                    {check: "enforce", name: "debug"},
		"ephemeral that asks":          {check: "enforce", name: "debug", asks: cpu("1")},
	} {
		t.Run(name, func(t *testing.T) {
			c, sb, _ := announcingAndKeeping(t, podresources.Field)
			c.config.PodResourcesCheck = tc.check
			config := &runtime.ContainerConfig{Metadata: &runtime.ContainerMetadata{Name: tc.name}, Mounts: tc.mounts}
			require.NoError(t, podresources.SetContainer(config, tc.asks))
			err := c.checkAnnounced(t.Context(), sb, config)
			if tc.fails != "" {
				assert.ErrorIs(t, err, errdefs.ErrFailedPrecondition)
				assert.ErrorContains(t, err, tc.fails)
				assert.Equal(t, "1", requested(sb, "web"))
				return
			}
			assert.NoError(t, err)
		})
	}
}

// A container that differed is in the announcement by now, so its next creation does not differ.
func TestCheckFollowsTheLastCreation(t *testing.T) {
	c, sb, _ := announcingAndKeeping(t, podresources.Field)
	config := &runtime.ContainerConfig{
		Metadata: &runtime.ContainerMetadata{Name: "web"},
		Mounts:   []*runtime.Mount{{ContainerPath: "/data", HostPath: "/srv/data"}},
	}
	require.NoError(t, podresources.SetContainer(config, cpu("2")))
	ctx, text := logged(t)
	c.config.PodResourcesCheck = "warn"
	require.NoError(t, c.checkAnnounced(ctx, sb, config))
	assert.Contains(t, text.String(), "requests[cpu]: announced 1, got 2")
	c.keepAsked(ctx, sb, config)
	c.config.PodResourcesCheck = "enforce"
	assert.NoError(t, c.checkAnnounced(ctx, sb, config))
}
