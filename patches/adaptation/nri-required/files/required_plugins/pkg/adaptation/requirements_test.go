// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	validator "github.com/containerd/nri/plugins/default-validator/builtin"

	"github.com/hookline-nri/hookline/internal/nri/lifecycle"
)

const (
	requires  = "required-plugins.noderesource.dev"
	tolerates = "tolerates.example.org"
)

// The plugins that a pod, and its container "main", require.
func TestRequirements(t *testing.T) {
	many := make([]string, annotated+1)
	for i := range many {
		many[i] = fmt.Sprintf("p%d", i)
	}
	table := map[string]PluginSettings{
		"net":       {RequiredForPods: true, AllowToleration: true, ExemptNamespaces: []string{"net-system", "kube-system"}, Wait: time.Second},
		"10-device": {RequiredForContainers: true},
		"all":       {RequiredForPods: true, RequiredForContainers: true, ExemptNamespaces: []string{"kube-system"}},
		"optional":  {Wait: time.Minute, RequestTimeout: time.Second},
	}
	for name, tc := range map[string]struct {
		namespace   string
		annotations map[string]string
		disabled    bool // whether the validator is
		unset       bool // whether the settings require no plugin
		pod, ctr    string
		err         string
	}{
		"the settings":           {pod: "all/10s net/1s", ctr: "10-device/10s all/10s"},
		"an exempt namespace":    {namespace: "net-system", pod: "all/10s", ctr: "10-device/10s all/10s"},
		"one of two":             {namespace: "kube-system", ctr: "10-device/10s"},
		"nothing":                {unset: true},
		"an annotation":          {unset: true, annotations: map[string]string{requires: "[ 20-optional, b ]"}, pod: "20-optional/1m0s? b/10s?", ctr: "20-optional/1m0s? b/10s?"},
		"of the pod":             {unset: true, annotations: map[string]string{requires + "/pod": "[ b ]", requires: "[ a ]"}, pod: "b/10s?", ctr: "b/10s?"},
		"of the container":       {unset: true, annotations: map[string]string{requires + "/container.main": "[ b ]", requires: "[ a ]"}, pod: "a/10s?", ctr: "b/10s?"},
		"of another container":   {unset: true, annotations: map[string]string{requires + "/container.other": "[ b ]"}},
		"both":                   {annotations: map[string]string{requires: "[ net, b, b ]"}, pod: "all/10s net/1s b/10s?", ctr: "10-device/10s all/10s b/10s? net/1s?"},
		"the validator disabled": {annotations: map[string]string{requires: "[ b ]", tolerates: "true"}, disabled: true, pod: "all/10s net/1s", ctr: "10-device/10s all/10s"},
		"one may be tolerated":   {annotations: map[string]string{requires: "[ b ]", tolerates: "true"}, pod: "all/10s", ctr: "10-device/10s all/10s"},
		"by the pod":             {annotations: map[string]string{tolerates + "/pod": "true"}, pod: "all/10s", ctr: "10-device/10s all/10s"},
		"by the container":       {annotations: map[string]string{tolerates + "/container.main": "true"}, pod: "all/10s net/1s", ctr: "10-device/10s all/10s"},
		"not tolerated":          {annotations: map[string]string{tolerates: "false"}, pod: "all/10s net/1s", ctr: "10-device/10s all/10s"},
		"an exempt one asks":     {namespace: "kube-system", annotations: map[string]string{requires: "[ net ]"}, pod: "net/1s?", ctr: "10-device/10s net/1s?"},
		"no list":                {annotations: map[string]string{requires: "net"}, err: `annotation required-plugins.noderesource.dev is "net": set it to a list`},
		"no boolean":             {annotations: map[string]string{tolerates: "often"}, err: `annotation tolerates.example.org is "often": set it to true or false`},
		"a long annotation":      {annotations: map[string]string{requires: strings.Repeat("x", 4096)}, err: `is "` + strings.Repeat("x", 256) + `": set it to a list`},
		"too many":               {annotations: map[string]string{requires: "[" + strings.Join(many, ",") + "]"}, err: "has 65 plugins"},
	} {
		t.Run(name, func(t *testing.T) {
			r := &Adaptation{}
			if !tc.unset {
				require.NoError(t, WithPluginSettings(table)(r))
			} else {
				require.NoError(t, WithPluginSettings(map[string]PluginSettings{"optional": table["optional"]})(r))
			}
			require.NoError(t, WithDefaultValidator(&validator.DefaultValidatorConfig{Enable: !tc.disabled, TolerateMissingAnnotation: tolerates})(r))
			pod := &PodSandbox{Id: "pod0", Namespace: tc.namespace, Annotations: tc.annotations}
			for want, req := range map[*string]any{
				&tc.pod: podEvent(lifecycle.RunPodSandbox, pod, &RunPodSandboxRequest{Pod: pod}),
				&tc.ctr: containerEvent(lifecycle.CreateContainer, pod, nil, &newContainer{
					request: &CreateContainerRequest{Pod: pod, Container: &Container{Id: "ctr0", Name: "main"}}}),
			} {
				required, err := r.required(context.Background(), req.(lifecycle.Event))
				if tc.err != "" {
					require.ErrorContains(t, err, tc.err)
					continue
				}
				require.NoError(t, err)
				var got []string
				for _, one := range required {
					text := fmt.Sprintf("%s/%s", one.Plugin, one.Wait)
					if one.OrPresent {
						text += "?"
					}
					got = append(got, text)
				}
				require.Equal(t, *want, strings.Join(got, " "))
			}
		})
	}
}

// Settings of a name hold for any index, unless a setting with the index exists.
func TestSettingsByName(t *testing.T) {
	r := &Adaptation{}
	require.NoError(t, WithPluginSettings(map[string]PluginSettings{
		"slow":    {RequestTimeout: time.Minute, SyncTimeout: time.Hour},
		"20-slow": {RequestTimeout: time.Second},
	})(r))
	for name, want := range map[string]lifecycle.Timeouts{
		"10-slow":    {Request: time.Minute, Sync: time.Hour},
		"20-slow":    {Request: time.Second},
		"10-other":   {},
		"10-my-slow": {},
	} {
		p := &plugin{r: r, idx: name[:2], base: name[3:]}
		require.Equal(t, want, connection{p}.Timeouts(), name)
	}
	require.Error(t, WithPluginSettings(map[string]PluginSettings{"slow": {Wait: -1}})(r))
}
