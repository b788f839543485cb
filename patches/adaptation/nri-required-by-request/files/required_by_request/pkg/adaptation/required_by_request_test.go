// SPDX-License-Identifier: Apache-2.0

package adaptation_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	nri "github.com/containerd/nri/pkg/adaptation"
	"github.com/containerd/nri/pkg/api"
	validator "github.com/containerd/nri/plugins/default-validator/builtin"
)

// createRequiring creates a container whose request requires plugins.
func createRequiring(r *nri.Adaptation, pod *api.PodSandbox, id string, plugins ...string) error {
	ctx := nri.WithRequired(context.Background(), plugins...)
	_, err := r.CreateContainer(ctx, &api.CreateContainerRequest{Pod: pod, Container: &api.Container{Id: id, PodSandboxId: pod.Id}})
	return err
}

const tolerates = "tolerates.example.org"

// A request requires plugins, unless the operator exempts the pod.
func TestRequestRequiresPlugins(t *testing.T) {
	settings := map[string]nri.PluginSettings{
		"driver":    {ExemptNamespaces: []string{"exempt"}, ExemptHostNetwork: true, Wait: time.Millisecond},
		"lax":       {AllowToleration: true, Wait: time.Millisecond},
		"container": {RequiredForContainers: true, ExemptNamespaces: []string{"default", "exempt"}, Wait: time.Millisecond},
		"b":         {Wait: time.Millisecond},
	}
	r := runtimeWith(t, t.TempDir(), lists, nri.WithPluginSettings(settings),
		nri.WithDefaultValidator(&validator.DefaultValidatorConfig{Enable: true, TolerateMissingAnnotation: tolerates}))
	tolerating := map[string]string{tolerates: "true"}
	for name, tc := range map[string]struct {
		namespace   string
		annotations map[string]string
		plugins     []string
		want        string // the required plugin that is disconnected
	}{
		"none":                 {},
		"one":                  {plugins: []string{"driver"}, want: "driver"},
		"with its index":       {plugins: []string{"10-driver"}, want: "10-driver"},
		"exempt":               {namespace: "exempt", plugins: []string{"driver"}},
		"another one":          {namespace: "exempt", plugins: []string{"driver", "b"}, want: "b"},
		"not tolerated":        {annotations: tolerating, plugins: []string{"driver"}, want: "driver"},
		"tolerated":            {annotations: tolerating, plugins: []string{"lax"}},
		"one of two tolerated": {annotations: tolerating, plugins: []string{"lax", "b"}, want: "b"},
		"by a setting, too":    {namespace: "other", plugins: []string{"container"}, want: "container"},
		"by an annotation":     {annotations: map[string]string{"required-plugins.noderesource.dev": "[ b ]"}, plugins: []string{"b"}, want: "b"},
	} {
		t.Run(name, func(t *testing.T) {
			pod := &api.PodSandbox{Id: "pod", Namespace: tc.namespace, Annotations: tc.annotations, Linux: &api.LinuxPodSandbox{
				Namespaces: []*api.LinuxNamespace{{Type: "ipc"}}, // on the host's network
			}}
			if pod.Namespace == "" {
				pod.Namespace = "default"
			}
			err := createRequiring(r, pod, "ctr", tc.plugins...)
			if tc.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, "required plugin "+tc.want+" is disconnected")
		})
	}
	require.Len(t, r.RequiredPlugins(), 1, "only the settings are shown")
}

func TestRequiredIn(t *testing.T) {
	many := make([]string, 65)
	for i := range many {
		many[i] = fmt.Sprintf("p%d", i)
	}
	for value, want := range map[string]string{
		"[ b, 10-a, b ]":                    "10-a b",
		"- a":                               "a",
		"":                                  "has no plugin",
		"~":                                 "has no plugin",
		"[]":                                "has no plugin",
		"[\"\"]":                            "name is empty",
		"[ a/b ]":                           "contains invalid character",
		"driver":                            `is "driver": set it to a list of names`,
		"[" + strings.Join(many, ",") + "]": "has 65 plugins: no more than 64 can be required",
	} {
		names, err := nri.RequiredIn(value)
		if err != nil {
			require.ErrorContains(t, err, want, value)
			require.ErrorContains(t, err, "annotation required-plugins.noderesource.dev")
			continue
		}
		require.Equal(t, want, strings.Join(names, " "), value)
	}
}

// A request for a pod waits for the plugins before anything is made, and an answer meets it.
func TestRequestOfAPodRequiresPlugins(t *testing.T) {
	dir := t.TempDir()
	record := &requiredRecord{}
	r := runtimeWith(t, dir, lists, nri.WithMetrics(record),
		nri.WithPluginSettings(map[string]nri.PluginSettings{"driver": {Wait: 50 * time.Millisecond}}))
	ctx := nri.WithRequired(context.Background(), "driver")
	request := &api.RunPodSandboxRequest{Pod: &api.PodSandbox{Id: "pod"}}
	_, err := r.AwaitRequired(ctx, request)
	require.Equal(t, codes.Unavailable, status.Code(err))
	require.ErrorContains(t, err, "RunPodSandbox rejected: required plugin driver is disconnected since 2")
	require.Equal(t, []string{"driver RunPodSandbox disconnected"}, record.rejections)

	// One that has subscribed to CreateContainer alone must only be connected for the pod.
	p := &mockPlugin{idx: "10", name: "driver", mask: api.MustParseEventMask("CreateContainer")}
	p.createContainer = func(_ *mockPlugin, _ *api.PodSandbox, ctr *api.Container) (*api.ContainerAdjustment, []*api.ContainerUpdate, error) {
		if ctr.Id == "early" {
			return nil, nil, errors.New("not yet")
		}
		return nil, nil, nil
	}
	started(t, dir, p)
	require.NoError(t, p.Wait(PluginSynchronized, time.After(soon)))
	eventually(t, func() error { return r.RunPodSandbox(ctx, request) })
	require.ErrorContains(t, createRequiring(r, request.Pod, "early", "driver"), "not yet")
	require.NoError(t, createRequiring(r, request.Pod, "late", "driver"))
}
