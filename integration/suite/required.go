// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// NoRule is a configuration that says nothing yet.
const NoRule = "version = 4\n"

// PluginSetting is the configuration of a node that says something of one plugin.
func PluginSetting(name, settings string) string {
	return fmt.Sprintf(NoRule+"[plugins.'io.containerd.nri.v1.nri'.plugins.%q]\n%s\n", name, settings)
}

// WithConfig is for a node with settings of its operator.
func WithConfig(config string) func(*node.Options) {
	return func(o *node.Options) { o.Config = config }
}

// SaysNow has a node's operator say something else, and starts its runtime again.
func SaysNow(t *testing.T, n *node.Node, config string) error {
	t.Helper()
	require.NoError(t, n.Kill(WithinAMinute(t)))
	return SaysAndBoots(WithinAMinute(t), t, n, config)
}

// SaysAndBoots is SaysNow of a runtime that is not there.
func SaysAndBoots(ctx context.Context, t *testing.T, n *node.Node, config string) error {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(n.Folder(), "more.toml"), []byte(config), 0o644))
	return n.Boot(ctx)
}

// PodIn is the configuration of a pod in a namespace, with annotations.
func PodIn(n Runtime, namespace, name string, annotations map[string]string) *runtime.PodSandboxConfig {
	pod := n.CRI().Pod(name)
	pod.Metadata.Namespace, pod.Annotations = namespace, annotations
	return pod
}

// RequireUnavailable checks what a kubelet reads of a pod or container that was
// refused for want of a plugin.
func RequireUnavailable(t require.TestingT, err error, words ...string) {
	RequireReadable(t, err, codes.Unavailable, append(words, "required plugin must")...)
}

// RequireWord checks that one of some plugins has answered for a pod in RunPodSandbox,
// as a pod that is ready must have it.
func RequireWord(t require.TestingT, pod string, plugins ...*plugin.Process) {
	RequireSoon(t, "the word of a plugin for pod "+pod, func(context.Context) error {
		for _, p := range plugins {
			if HasAnsweredOf(p, pod, plugin.RunPodSandbox) == nil {
				return nil
			}
		}
		return fmt.Errorf("none of %d has answered", len(plugins))
	})
}

// WaitFor tells whether so many pods wait for a required plugin that is away.
func WaitFor(t require.TestingT, n Runtime, name string, pods int) error {
	waiting := 0
	for _, pod := range ReadNRI(t, n).PodsBeingCreated {
		if w := pod.WaitingFor; w != nil && w.Away && w.Plugin == name {
			waiting++
		}
	}
	if waiting != pods {
		return fmt.Errorf("%d of %d wait", waiting, pods)
	}
	return nil
}

// IsAway tells whether the runtime has noticed that all plugins have gone.
func IsAway(t require.TestingT, n Runtime) error {
	if RunsOnStock {
		return nil // it does not show its plugins, and requires none
	}
	if plugins := ReadNRI(t, n).Plugins; len(plugins) > 0 {
		return fmt.Errorf("%s is there", plugins[0].Name)
	}
	return nil
}
