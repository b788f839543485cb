// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// noRule is a configuration that says nothing yet.
const noRule = "version = 4\n"

// pluginSetting is the configuration of a node that says something of one plugin.
func pluginSetting(name, settings string) string {
	return fmt.Sprintf(noRule+"[plugins.'io.containerd.nri.v1.nri'.plugins.%q]\n%s\n", name, settings)
}

// operator has a node say something of plugins.
func operator(config string) func(*node.Options) {
	return func(o *node.Options) { o.Config = config }
}

// saysNow has a node's operator say something else, and starts its runtime again.
func saysNow(t *testing.T, n *node.Node, config string) error {
	t.Helper()
	require.NoError(t, n.Kill(withinAMinute(t)))
	return saysAndBoots(withinAMinute(t), t, n, config)
}

func saysAndBoots(ctx context.Context, t *testing.T, n *node.Node, config string) error {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(n.Folder(), "more.toml"), []byte(config), 0o644))
	return n.Boot(ctx)
}

// podIn is the configuration of a pod in a namespace, with annotations.
func podIn(n fixture.Runtime, namespace, name string, annotations map[string]string) *runtime.PodSandboxConfig {
	pod := n.CRI().Pod(name)
	pod.Metadata.Namespace, pod.Annotations = namespace, annotations
	return pod
}

// requireUnavailable checks what a kubelet reads of a pod or container that was
// refused for want of a plugin.
func requireUnavailable(t require.TestingT, err error, words ...string) {
	requireReadable(t, err, codes.Unavailable, append(words, "required plugin must")...)
}

// requireNotTold checks that a plugin was told nothing of pods of a name.
func requireNotTold(t require.TestingT, p told, pod string) {
	assert.Empty(t, p.Calls().Named(pod).Events(), "%s was told of %s", p.Name(), pod)
}

// requireWord checks that one of some plugins has answered for a pod in RunPodSandbox,
// as a pod that is ready must have it.
func requireWord(t require.TestingT, pod string, plugins ...*plugin.Process) {
	requireSoon(t, "the word of a plugin for pod "+pod, func(context.Context) error {
		for _, p := range plugins {
			if hasAnsweredOf(p, pod, plugin.RunPodSandbox) == nil {
				return nil
			}
		}
		return fmt.Errorf("none of %d has answered", len(plugins))
	})
}

// waitFor tells whether so many pods wait for a required plugin that is away.
func waitFor(t require.TestingT, n fixture.Runtime, name string, pods int) error {
	waiting := 0
	for _, pod := range readNRI(t, n).PodsBeingCreated {
		if w := pod.WaitingFor; w != nil && w.Away && w.Plugin == name {
			waiting++
		}
	}
	if waiting != pods {
		return fmt.Errorf("%d of %d wait", waiting, pods)
	}
	return nil
}

// isAway tells whether the runtime has noticed that all plugins have gone.
func isAway(t require.TestingT, n fixture.Runtime) error {
	if runsOnStock {
		return nil // it does not show its plugins, and requires none
	}
	if plugins := readNRI(t, n).Plugins; len(plugins) > 0 {
		return fmt.Errorf("%s is there", plugins[0].Name)
	}
	return nil
}
