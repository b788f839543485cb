// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/containerd/containerd/v2/internal/cri/podresources"
)

func TestAnnouncedDevicesRequirePlugins(t *testing.T) {
	specified(t)
	announce := func(devices ...string) *criPodSandbox {
		config := &podresources.PodResourceConfig{}
		for i, name := range devices {
			config.Containers = append(config.Containers, &podresources.ContainerResourceConfig{
				Name: fmt.Sprint("c", i), CDIDevices: []*runtime.CDIDevice{{Name: name}},
			})
		}
		announced, err := podresources.NewAnnouncement(config, podresources.Field)
		require.NoError(t, err)
		return &criPodSandbox{asked: announced}
	}
	for name, tc := range map[string]struct {
		pod  *criPodSandbox
		want []string
	}{
		"nothing announced":       {pod: &criPodSandbox{}},
		"no device":               {pod: announce()},
		"without a specification": {pod: announce("vendor.example/nic=none", "vendor.example/nic=plain"), want: []string{"nic-driver"}},
		"with an unreadable one":  {pod: announce("vendor.example/nic=bad", "vendor.example/nic=plain"), want: []string{"nic-driver"}},
		"by each":                 {pod: announce("vendor.example/nic=plain", "vendor.example/nic=fast"), want: []string{"nic-driver", "tuner", "nic-driver"}},
	} {
		t.Run(name, func(t *testing.T) {
			plugins, err := tc.pod.GetRequiredPlugins()
			require.NoError(t, err)
			require.Equal(t, tc.want, plugins)
		})
	}
}
