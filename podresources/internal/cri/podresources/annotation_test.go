// SPDX-License-Identifier: Apache-2.0

package podresources

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const webText = `{"containers":[{"name":"web","type":"CONTAINER",` +
	`"kubernetesResources":{"requests":{"cpu":"500m"},"limits":{"memory":"1Gi"}},` +
	`"mounts":[{"containerPath":"/data","hostPath":"/srv/data","readonly":true}],` +
	`"devices":[{"containerPath":"/dev/null","hostPath":"/dev/zero","permissions":"rw"}],` +
	`"CDIDevices":[{"name":"vendor.com/gpu=0"}]}],` +
	`"kubernetesResources":{"requests":{"cpu":"2"}}}`

func TestAnnotationAndBack(t *testing.T) {
	want := &PodResourceConfig{Containers: []*ContainerResourceConfig{web()}, KubernetesResources: requests("cpu", "2")}
	text, err := ToAnnotation(want)
	require.NoError(t, err)
	require.Equal(t, webText, text)
	got, err := FromAnnotation(text)
	require.NoError(t, err)
	equal(t, want, got)
}

// The annotation may use the names of the fields, too.
func TestAnnotationByNamesOfFields(t *testing.T) {
	got, err := FromAnnotation(`{"containers": [{"name": "setup", "type": "INIT_CONTAINER", "kubernetes_resources": {"requests": {"cpu": "2"}}, "CDI_devices": []}]}`)
	require.NoError(t, err)
	equal(t, &PodResourceConfig{Containers: []*ContainerResourceConfig{{
		Name: "setup", Type: ContainerType_INIT_CONTAINER.Enum(), KubernetesResources: requests("cpu", "2"),
	}}}, got)
}

func TestAnnotationErrors(t *testing.T) {
	for name, bad := range map[string]struct{ text, want string }{
		"no text":      {"", "unexpected token"},
		"no JSON":      {"cpu: 1", "syntax error"},
		"no object":    {"[]", "unexpected token"},
		"more":         {"{} {}", "unexpected token"},
		"key":          {`{"pods": []}`, `unknown field "pods"`},
		"key within":   {`{"containers": [{"name": "web", "cpu": "1"}]}`, `unknown field "cpu"`},
		"key twice":    {`{"containers": [], "containers": []}`, `duplicate field "containers"`},
		"name twice":   {`{"containers": [{"name": "web", "type": "CONTAINER"}, {"name": "web", "type": 0}]}`, `two containers have the name "web", number 1 and number 2`},
		"type":         {`{"containers": [{"name": "web", "type": "MAIN"}]}`, `"MAIN"`},
		"number":       {`{"kubernetesResources": {"requests": {"cpu": 1}}}`, "invalid value"},
		"cpu twice":    {`{"kubernetesResources": {"requests": {"cpu": "1", "cpu": "2"}}}`, `duplicate map key "cpu"`},
		"null":         {`{"kubernetesResources": {"requests": {"cpu": null}}}`, "null"},
		"quantity":     {`{"kubernetesResources": {"limits": {"cpu": "-1"}}}`, `the pod as a whole: limits: "cpu": quantity "-1": is negative`},
		"deep":         {`{"containers": ` + strings.Repeat("[", 30000), "unexpected token"},
		"no type":      {`{"containers": [{"name": "web"}]}`, `container "web" has no type`},
		"no path":      {`{"containers": [{"name": "web", "type": "CONTAINER", "mounts": [{}]}]}`, `container "web": mount 1 of 1 has no path in the container`},
		"too much":     {strings.Repeat(" ", MaxAnnotation), "32768 bytes, want less than 32768"},
		"too many":     {`{"containers": [{"name": "web", "type": "CONTAINER", "devices": [{}` + strings.Repeat(", {}", 511) + `]}]}`, "512 mounts, devices and quantities, want less than 512"},
		"long unknown": {`{"` + strings.Repeat("x", 30000) + `": 1}`, "unknown field"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := FromAnnotation(bad.text)
			require.ErrorContains(t, err, "annotation hookline.dev/pod-resources: ")
			require.ErrorContains(t, err, bad.want)
			require.Nil(t, got)
			require.Less(t, len(err.Error()), 1000)
		})
	}
	_, err := ToAnnotation(&PodResourceConfig{KubernetesResources: requests("cpu", "x")})
	require.Error(t, err)
}

func FuzzR4_FromAnnotation(f *testing.F) {
	f.Add(webText)
	f.Add(`{"kubernetesResources": {"requests": {"cpu": "1e999999999"}}}`)
	f.Add(`{"containers": [null]}`)
	f.Fuzz(func(t *testing.T, text string) {
		got, err := FromAnnotation(text)
		if (got == nil) == (err == nil) {
			t.Fatalf("%v and %v", got, err)
		}
		if err == nil {
			// It may be longer than the text: it has the names of types in place of numbers.
			if _, err := ToAnnotation(got); err != nil && !errors.Is(err, errTooLarge) {
				t.Errorf("%q: %v", text, err)
			}
		}
	})
}
