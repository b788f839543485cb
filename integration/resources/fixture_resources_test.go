// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/podresources"
	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// ways are the ways to announce a pod.
var ways = []string{"field", "annotation"}

// readingAnnotation makes the runtime read the annotation of pods. In a cluster, an admission
// policy would let only a webhook write it.
func readingAnnotation(o *node.Options) { withSetting(readsAnnotation)(o) }

const readsAnnotation = "pod_resources_annotation = true"

// withSetting adds a line to the configuration of CRI's runtime.
func withSetting(line string) func(*node.Options) {
	return func(o *node.Options) {
		o.Config = "version = 3\n[plugins.'io.containerd.cri.v1.runtime']\n" + line + "\n"
	}
}

// requireDelivered checks that a plugin received one pod with an event, and its complete
// announcement.
func requireDelivered(t require.TestingT, p *plugin.Plugin, event plugin.Event, want podresources.Pod) {
	pods := PodsOf(p, event)
	require.Len(t, pods, 1, "%s of %s", event, p.Name())
	assert.Empty(t, cmp.Diff(&want, podresources.FromPod(pods[0])), "%s of %s (- announced, + received)", event, p.Name())
}

// joinAfterKill kills the runtime, and returns a plugin that joins the next one.
func joinAfterKill(t *testing.T, n *node.Node) *plugin.Plugin {
	t.Helper()
	require.NoError(t, n.Kill(WithinAMinute(t)))
	require.NoError(t, n.Boot(WithinAMinute(t)))
	after := plugin.New("30", "after")
	Connect(t, n, after)
	return after
}

// runAnnounced starts a node with a plugin and a pod whose three containers are announced in the
// field.
func runAnnounced(t *testing.T) (n *node.Node, p *plugin.Plugin, pod *runtime.PodSandboxConfig, id string) {
	t.Helper()
	n = StartNode(t)
	p = plugin.New("10", "sums")
	Connect(t, n, p)
	pod = Announced(t, n, "field", ThreeContainers())
	id, err := n.CRI().RunPod(WithinAMinute(t), pod)
	require.NoError(t, err)
	return n, p, pod, id
}
