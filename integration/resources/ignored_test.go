// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/podresources"
	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

const (
	resourcesIgnored  = "containerd_cri_pod_resources_ignored_total"
	ignoringResources = "ignoring the resources in the "
	nothingRead       = "nothing is read"
)

// otherMeaning sets a number in the field of the resources.
func otherMeaning(m proto.Message, field protowire.Number) {
	m.ProtoReflect().SetUnknown(protowire.AppendVarint(protowire.AppendTag(nil, field, protowire.VarintType), 1))
}

// requireIgnored checks that bad input was logged once, and counted by its source.
func requireIgnored(t require.TestingT, n *node.Node, where string, counts map[string]float64) {
	log := unquotedLog(t, n)
	assert.Equal(t, 1, strings.Count(log, ignoringResources), "it is logged once")
	assert.Equal(t, 1, strings.Count(log, ignoringResources+where+" of pod default/web"))
	counted, err := n.Metrics(context.Background(), resourcesIgnored)
	require.NoError(t, err)
	assert.Equal(t, counts, counted)
}

// An announcement that cannot be read fails no pod.
func TestR4_UnreadableAnnouncementFailsNoPod(t *testing.T) {
	t.Parallel()
	type spoil = func(*runtime.PodSandboxConfig)
	field := func(value string) spoil {
		return func(c *runtime.PodSandboxConfig) {
			c.ProtoReflect().SetUnknown(protowire.AppendBytes(protowire.AppendTag(nil, 10, protowire.BytesType), []byte(value)))
		}
	}
	annotation := func(text string) spoil {
		return func(c *runtime.PodSandboxConfig) {
			c.Annotations = map[string]string{"hookline.dev/pod-resources": text}
		}
	}
	asking := func(cpu string) spoil {
		return annotation(`{"containers": [{"name": "main", "type": "CONTAINER", "kubernetesResources": {"requests": {"cpu": "` + cpu + `"}}}]}`)
	}
	for name, bad := range map[string]struct {
		where string
		spoil spoil
	}{
		"malformed":                  {"field", field("\x0a\xff")},
		"the KEP's first form":       {"field", field("\x0a\x07\x0a\x05setup\x12\x06\x0a\x04main")},
		"another meaning":            {"field", func(c *runtime.PodSandboxConfig) { otherMeaning(c, 10) }},
		"a mebibyte":                 {"field", field(strings.Repeat("\x0a\x00", 1<<19))},
		"500 containers":             {"field", field(strings.Repeat("\x0a\x03\x0a\x01a", 500))},
		"two of one name":            {"field", field(strings.Repeat("\x0a\x05\x0a\x01a\x10\x01", 2))},
		"two of one name, annotated": {"annotation", annotation(`{"containers": [{"name": "main", "type": "CONTAINER"}, {"name": "main", "type": "INIT_CONTAINER"}]}`)},
		"negative":                   {"annotation", asking("-1")},
		"absurd":                     {"annotation", asking("1Ei")},
		"absurd to compute with":     {"annotation", asking("1e999999999")},
		"no JSON":                    {"annotation", annotation("cpu: 1")},
		"large, annotated":           {"annotation", annotation(`{"containers": []` + strings.Repeat(" ", 32<<10) + `}`)},
		"more than a node has":       {"annotation", asking("1000000")},
	} {
		t.Run(name, func(t *testing.T) {
			n := StartNode(t, readingAnnotation)
			p := plugin.New("10", "sums")
			Connect(t, n, p)
			pod := n.CRI().Pod("web")
			bad.spoil(pod)
			l := NewLifeOf(t, n, pod)
			Promise(t, "R4", "the unreadable announcement is logged once, and counted", OnStock(nothingRead), func(t require.TestingT) {
				requireIgnored(t, n, bad.where, map[string]float64{`{source="` + bad.where + `"}`: 1})
			})
			after := joinAfterKill(t, n)
			assert.Equal(t, []string{"absent"}, SumsDelivered(p, plugin.RunPodSandbox))
			assert.Equal(t, []string{"absent"}, SumsDelivered(after, plugin.Synchronize))
			l.End(t)
		})
	}
}

// Requests with unreadable resources, for a pod with an announcement, are handled as without
// resources.
func TestR4_BadUpdatesChangeNothing(t *testing.T) {
	t.Parallel()
	n, p, pod, id := runAnnounced(t)
	ctx, c := WithinAMinute(t), n.CRI()
	config := c.Container("main")
	otherMeaning(config, 1018)
	container, err := c.Create(ctx, id, pod, config)
	require.NoError(t, err)
	require.NoError(t, c.Start(ctx, container))
	require.NoError(t, n.Settled(ctx, container))
	for range 2 {
		one := &runtime.UpdateContainerResourcesRequest{ContainerId: container, Linux: &runtime.LinuxContainerResources{CpuShares: 512}}
		otherMeaning(one, 5)
		_, err = c.Runtime.UpdateContainerResources(ctx, one)
		require.NoError(t, err)
		all := &runtime.UpdatePodSandboxResourcesRequest{PodSandboxId: id}
		otherMeaning(all, 4)
		_, err = c.Runtime.UpdatePodSandboxResources(ctx, all)
		require.NoError(t, err)
	}
	Promise(t, "R4", "unreadable resources in a request are logged once, and counted", OnStock(nothingRead), func(t require.TestingT) {
		requireIgnored(t, n, "container", map[string]float64{`{source="container"}`: 1, `{source="container_update"}`: 2, `{source="pod_update"}`: 2})
	})

	after := joinAfterKill(t, n)
	require.NoError(t, c.Stop(ctx, container, 0))
	Promise(t, "R4", "such a request does not change the resources that plugins receive", OnStock(DeliversNothing), func(t require.TestingT) {
		for _, call := range p.Calls().Of(id) {
			assert.Equal(t, AllThree, SumOf(call.Pod), call.Event)
			if call.Container != nil {
				assert.Equal(t, "500m", CPUOf(call.Container), call.Event)
			}
		}
	})
	Promise(t, "R4", "such a request does not change the resources that plugins receive after a restart", OnStock(DeliversNothing), Eventually(func(t require.TestingT) {
		requireDelivered(t, after, plugin.Synchronize, ThreeContainers())
		assert.Equal(t, []string{"StopContainer 500m"}, CPUsDelivered(after, plugin.StopContainer))
	}))
}

// largestAnnounced is a pod whose announcement is a KiB below the limit.
func largestAnnounced(t *testing.T, n *node.Node, how string) (*runtime.PodSandboxConfig, podresources.Pod) {
	t.Helper()
	size, mounts := 255<<10, 240
	if how == "annotation" {
		size, mounts = 31<<10, 28
	}
	what := ThreeContainers()
	main := &what.Containers[1]
	for i := range mounts {
		main.Mounts = append(main.Mounts, podresources.Mount{ContainerPath: fmt.Sprintf("/mnt/%03d", i), HostPath: "/" + strings.Repeat("x", 1000)})
	}
	measure := func() (*runtime.PodSandboxConfig, int) {
		pod := Announced(t, n, how, what)
		bytes := len(pod.ProtoReflect().GetUnknown())
		for _, text := range pod.GetAnnotations() {
			bytes += len(text)
		}
		return pod, bytes
	}
	_, less := measure()
	main.Mounts[0].HostPath += strings.Repeat("x", size-less)
	pod, bytes := measure()
	require.InDelta(t, size, bytes, 8)
	return pod, what
}

// An announcement just below the limit is delivered, also with more pods than fit into a message of
// NRI.
func TestR4_LargestAnnouncementIsDelivered(t *testing.T) {
	t.Parallel()
	const pods = 17
	for _, how := range ways {
		t.Run(how, func(t *testing.T) {
			n := StartNode(t, readingAnnotation)
			p := plugin.New("10", "receives")
			Connect(t, n, p)
			ctx, c := WithinAMinute(t), n.CRI()
			pod, what := largestAnnounced(t, n, how)
			var id string
			for i := range pods {
				pod.Metadata.Name = fmt.Sprintf("web-%d", i)
				pod.Metadata.Uid = pod.Metadata.Name
				var err error
				id, err = c.RunPod(ctx, pod)
				require.NoError(t, err)
			}
			late := plugin.New("20", "late")
			Connect(t, n, late)
			visible := Inspectp(t, n, id)
			after := joinAfterKill(t, n)
			require.NoError(t, c.StopPod(ctx, id))
			for by, event := range map[*plugin.Plugin]plugin.Event{p: plugin.RunPodSandbox, late: plugin.Synchronize, after: plugin.Synchronize} {
				Promise(t, "R4", fmt.Sprintf("%s of %s has all of each pod", event, by.Name()), OnStock(DeliversNothing), func(t require.TestingT) {
					received := PodsOf(by, event)
					require.Len(t, received, pods)
					for _, pod := range received {
						require.Empty(t, cmp.Diff(&what, podresources.FromPod(pod)))
					}
				})
			}
			Promise(t, "R4", "the end of a pod has all of it after a restart", OnStock(DeliversNothing), Eventually(func(t require.TestingT) {
				requireDelivered(t, after, plugin.StopPodSandbox, what)
			}))
			Promise(t, "R4", "verbose status shows all of it, also after a restart", OnStock("nothing is shown"), func(t require.TestingT) {
				assert.Greater(t, len(visible), map[string]int{"field": 250, "annotation": 30}[how]<<10)
				assert.Equal(t, visible, Inspectp(t, n, id), "after the restart")
			})
		})
	}
}
