// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/containerd/errdefs"
	runtimespec "github.com/opencontainers/runtime-spec/specs-go"
	"github.com/stretchr/testify/require"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"
	"tags.cncf.io/container-device-interface/pkg/cdi"

	cstore "github.com/containerd/containerd/v2/internal/cri/store/container"
)

// Specifications of two devices each, by file. The first two have devices of one kind.
var nics = map[string]string{
	"nics.yaml": `cdiVersion: "0.6.0"
kind: vendor.example/nic
annotations:
  required-plugins.noderesource.dev: "[ nic-driver ]"
devices:
- name: plain
  containerEdits: {env: [NIC=plain]}
- name: fast
  annotations:
    required-plugins.noderesource.dev: "[ tuner ]"
  containerEdits: {env: [NIC=fast]}
`,
	"more.yaml": `cdiVersion: "0.6.0"
kind: vendor.example/nic
devices:
- name: free
  containerEdits: {env: [NIC=free]}
- name: bad
  annotations:
    required-plugins.noderesource.dev: ""
  containerEdits: {env: [NIC=bad]}
`,
	"torn.json": `{"cdiVersion": "0.6.0", "kind": `,
}

// specified makes CDI devices known, and returns the folder of their specifications.
func specified(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	require.NoError(t, cdi.Configure(cdi.WithSpecDirs(folder)))
	t.Cleanup(func() { require.NoError(t, cdi.Configure(cdi.WithSpecDirs())) })
	for name, text := range nics {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	return folder
}

func TestDevicesRequirePlugins(t *testing.T) {
	folder := specified(t)
	for name, tc := range map[string]struct {
		field      []string
		annotation string
		passed     string // by an annotation of the pod that the runtime handler passes on
		want       []string
		err        string
	}{
		"no device":                {},
		"one that requires none":   {field: []string{"vendor.example/nic=free"}},
		"by its file":              {field: []string{"vendor.example/nic=free", "vendor.example/nic=plain"}, want: []string{"nic-driver"}},
		"by itself, too":           {field: []string{"vendor.example/nic=fast"}, want: []string{"nic-driver", "tuner"}},
		"by annotation":            {annotation: "vendor.example/nic=plain", want: []string{"nic-driver"}},
		"of the pod":               {passed: "vendor.example/nic=plain"},
		"of the pod, not readable": {annotation: "vendor.example/nic=plain", passed: "x", want: []string{"nic-driver"}},
		"not readable":             {annotation: "x", err: "CDI devices in annotations: invalid argument"},
		"without a specification":  {field: []string{"vendor.example/nic=none"}, err: `CDI device "vendor.example/nic=none" has no specification any more`},
		"without a plugin":         {field: []string{"vendor.example/nic=bad"}, err: "CDI device vendor.example/nic=bad in " + folder + "/more.yaml: failed precondition: annotation required-plugins.noderesource.dev has no plugin"},
	} {
		t.Run(name, func(t *testing.T) {
			config := &runtime.ContainerConfig{Annotations: map[string]string{}}
			for _, device := range tc.field {
				config.CDIDevices = append(config.CDIDevices, &runtime.CDIDevice{Name: device})
			}
			if tc.annotation != "" {
				config.Annotations[cdi.AnnotationPrefix+"vendor_nic"] = tc.annotation
			}
			spec := &runtimespec.Spec{Annotations: map[string]string{}}
			if tc.passed != "" {
				spec.Annotations[cdi.AnnotationPrefix+"pod_nic"] = tc.passed
			}
			ctr := &criContainer{meta: &cstore.Metadata{Config: config}, spec: spec}
			plugins, err := ctr.GetRequiredPlugins()
			if tc.err != "" {
				require.ErrorContains(t, err, tc.err)
				require.True(t, errdefs.IsFailedPrecondition(err) || errdefs.IsInvalidArgument(err))
				return
			}
			require.NoError(t, err)
			require.Equal(t, tc.want, plugins)
		})
	}
	plugins, err := (&criContainer{}).GetRequiredPlugins()
	require.NoError(t, err)
	require.Empty(t, plugins)
}

// A specification counts as soon as it is written.
func TestSpecificationCountsAtOnce(t *testing.T) {
	folder := specified(t)
	ctr := &criContainer{meta: &cstore.Metadata{Config: &runtime.ContainerConfig{CDIDevices: []*runtime.CDIDevice{{Name: "vendor.example/nic=free"}}}}}
	for range 20 {
		for _, text := range []string{nics["more.yaml"], "annotations: {required-plugins.noderesource.dev: '[ late ]'}\n" + nics["more.yaml"]} {
			require.NoError(t, os.WriteFile(filepath.Join(folder, "more.yaml"), []byte(text), 0o600))
			plugins, err := ctr.GetRequiredPlugins()
			require.NoError(t, err)
			require.Equal(t, text == nics["more.yaml"], len(plugins) == 0)
		}
	}
}
