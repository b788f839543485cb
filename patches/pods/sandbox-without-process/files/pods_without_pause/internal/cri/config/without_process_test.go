// SPDX-License-Identifier: Apache-2.0

package config

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/containerd/containerd/v2/plugins"
)

// Pods of a shim for runc that makes sandboxes have a pause container only if they need one. Other
// runtimes make all of their pods in one way.
func TestRuntimeOfPodThatNeedsProcess(t *testing.T) {
	shim := Runtime{Type: plugins.RuntimeRuncV2, Path: "/shim", Sandboxer: string(ModeShim)}
	pause := shim
	pause.Sandboxer = string(ModePodSandbox)
	if pull := reflect.ValueOf(&shim).Elem().FieldByName("DisablePauseImagePull"); pull.IsValid() { // since v2.4
		pull.SetBool(true)
	}
	virtual := shim
	virtual.Type = "io.containerd.kata.v2"

	unnamed := shim
	unnamed.Path = ""

	config := &Config{}
	config.Runtimes = map[string]Runtime{"shim": shim, "pause": pause, "virtual": virtual, "unnamed": unnamed}
	for name, tc := range map[string]struct {
		asked *runtime.NamespaceOption
		needs bool
	}{
		"own processes":                  {asked: &runtime.NamespaceOption{Pid: runtime.NamespaceMode_CONTAINER}},
		"the node's":                     {asked: &runtime.NamespaceOption{Pid: runtime.NamespaceMode_NODE}},
		"those of a container":           {asked: &runtime.NamespaceOption{Pid: runtime.NamespaceMode_TARGET}},
		"the node's users":               {asked: &runtime.NamespaceOption{Pid: runtime.NamespaceMode_CONTAINER, UsernsOptions: &runtime.UserNamespace{Mode: runtime.NamespaceMode_NODE}}},
		"shared processes":               {asked: &runtime.NamespaceOption{Pid: runtime.NamespaceMode_POD}, needs: true},
		"shared processes, by default":   {needs: true},
		"users of its own":               {asked: &runtime.NamespaceOption{Pid: runtime.NamespaceMode_CONTAINER, UsernsOptions: &runtime.UserNamespace{Mode: runtime.NamespaceMode_POD}}, needs: true},
		"a mode that users cannot have":  {asked: &runtime.NamespaceOption{Pid: runtime.NamespaceMode_CONTAINER, UsernsOptions: &runtime.UserNamespace{Mode: runtime.NamespaceMode_TARGET}}, needs: true},
		"users of its own on the node's": {asked: &runtime.NamespaceOption{Pid: runtime.NamespaceMode_CONTAINER, Network: runtime.NamespaceMode_NODE, UsernsOptions: &runtime.UserNamespace{}}, needs: true},
	} {
		t.Run(name, func(t *testing.T) {
			pod := &runtime.PodSandboxConfig{Linux: &runtime.LinuxPodSandboxConfig{SecurityContext: &runtime.LinuxSandboxSecurityContext{NamespaceOptions: tc.asked}}}
			got, err := config.GetSandboxRuntime(pod, "shim")
			require.NoError(t, err)
			want := shim
			if tc.needs {
				want = pause
			}
			require.Equal(t, want, got)
			for _, other := range []string{"pause", "virtual", "unnamed"} {
				got, err := config.GetSandboxRuntime(pod, other)
				require.NoError(t, err)
				require.Equal(t, config.Runtimes[other], got)
			}
		})
	}
}
