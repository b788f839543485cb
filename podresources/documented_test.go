// SPDX-License-Identifier: Apache-2.0

package podresources_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/containerd/nri/pkg/api"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/resource"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/hookline-nri/hookline/podresources"
	kep "github.com/hookline-nri/hookline/podresources/internal/cri/podresources"
	"github.com/hookline-nri/hookline/podresources/internal/nri/provisional"
)

// A runtime can read the annotation in docs/resources.md. It has everything that the sample in Go
// has, and a bit more.
func TestDocumentedAnnotation(t *testing.T) {
	fromGo := &cri.PodSandboxConfig{}
	require.NoError(t, asDocumented(fromGo))
	want, source := received(t, fromGo)
	require.Equal(t, kep.Field, source)
	web := &want.Containers[1]
	web.Resources.Limits = quantities("memory", "1Gi")
	web.Devices = []podresources.Device{{ContainerPath: "/dev/fuse", HostPath: "/dev/fuse", Permissions: "rw"}}
	want.Resources.Requests = quantities("cpu", "3")

	got, source := received(t, &cri.PodSandboxConfig{Annotations: map[string]string{
		kep.Annotation: documented(t, "json", "containers"),
	}})
	require.Equal(t, kep.FromPod, source)
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// The samples in Go are compiled here and in the example.
func TestDocumentedGo(t *testing.T) {
	for file, sample := range map[string]string{
		"podresources/documented_test.go":   documented(t, "go", "SetPod"),
		"integration/example/sizes/main.go": documented(t, "go", "func request"),
	} {
		source, err := os.ReadFile(filepath.Join("..", file))
		require.NoError(t, err)
		require.True(t, strings.Contains(unindented(string(source)), unindented(sample)), "%s has not:\n%s", file, sample)
	}
}

// asDocumented has the sample for clients.
func asDocumented(config *cri.PodSandboxConfig) error {
	err := podresources.SetPod(config, podresources.Pod{
		Containers: []podresources.Container{
			{
				Name:      "setup",
				Type:      podresources.InitContainer,
				Resources: podresources.Requirements{Requests: map[string]resource.Quantity{"cpu": resource.MustParse("2")}},
			},
			{
				Name:      "web",
				Type:      podresources.MainContainer,
				Resources: podresources.Requirements{Requests: map[string]resource.Quantity{"cpu": resource.MustParse("500m")}},
				Mounts: []podresources.Mount{
					{ContainerPath: "/data", HostPath: "/srv/data", ReadOnly: true, Propagation: podresources.PropagationHostToContainer},
				},
				CDIDevices: []string{"vendor.com/gpu=0"},
			},
		},
	})
	return err
}

// received returns the resources that a plugin receives with a pod, and their source.
func received(t *testing.T, config *cri.PodSandboxConfig) (*podresources.Pod, kep.Source) {
	t.Helper()
	read, source, err := kep.Take(config, true)
	require.NoError(t, err)
	pod := &api.PodSandbox{}
	provisional.Set(pod, provisional.Resources, read.Wire())
	announced := podresources.FromPod(pod)
	require.NotNil(t, announced)
	return announced, source
}

// documented returns the only block of a language in the page that mentions a text.
func documented(t *testing.T, language, mentions string) string {
	t.Helper()
	page, err := os.ReadFile("../docs/resources.md")
	require.NoError(t, err)
	var found []string
	for _, block := range regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```$").FindAllStringSubmatch(string(page), -1) {
		if strings.Contains(block[1], mentions) {
			found = append(found, block[1])
		}
	}
	require.Len(t, found, 1, "blocks of %s with %q", language, mentions)
	return found[0]
}

// unindented returns text without its indentation.
func unindented(text string) string {
	return regexp.MustCompile(`(?m)^\s+`).ReplaceAllString(text, "")
}
