// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/containerd/nri/pkg/api"
	"github.com/hookline-nri/hookline"
	"github.com/hookline-nri/hookline/integration/node"
	"github.com/hookline-nri/hookline/integration/plugin"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"k8s.io/apimachinery/pkg/api/resource"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"
)

const toldNothing = "plugins are told nothing"

// requests are resources of a CPU and memory, in Kubernetes' words.
func requests(cpu, memory string) hookline.Resources {
	return hookline.Resources{Requests: map[string]resource.Quantity{
		"cpu": resource.MustParse(cpu), "memory": resource.MustParse(memory),
	}}
}

// threeContainers announces an init container and two main ones.
func threeContainers() hookline.Announcement {
	return hookline.Announcement{Containers: []hookline.Container{
		{Name: "setup", Type: hookline.Init, Resources: requests("2", "64Mi")},
		{Name: "main", Type: hookline.Main, Resources: requests("500m", "128Mi")},
		{Name: "side", Type: hookline.Main, Resources: requests("250m", "32Mi")},
	}}
}

// sumOf is what the main containers of a pod request together, and "untold" if
// nothing was announced.
func sumOf(pod *api.PodSandbox) string {
	announced := hookline.PodResources(pod)
	if announced == nil {
		return "untold"
	}
	cpu, memory := resource.Quantity{}, resource.Quantity{}
	for _, c := range announced.Containers {
		if c.Type == hookline.Main {
			cpu.Add(c.Resources.Requests["cpu"])
			memory.Add(c.Resources.Requests["memory"])
		}
	}
	return fmt.Sprintf("cpu %s, memory %s", cpu.String(), memory.String())
}

// sums are what plugins were told with the pods of a kind of event.
func sums(p *plugin.Plugin, event plugin.Event) (all []string) {
	for _, call := range p.Calls().Only(event) {
		if event == plugin.Synchronize {
			for _, pod := range call.Pods {
				all = append(all, sumOf(pod))
			}
			continue
		}
		all = append(all, sumOf(call.Pod))
	}
	return all
}

// cpuOf is the CPU that a container requests.
func cpuOf(ctr *api.Container) string {
	asked := hookline.ContainerResources(ctr)
	if asked == nil {
		return "untold"
	}
	cpu := asked.Requests["cpu"]
	return cpu.String()
}

// cpus are those that plugins were told with the containers of events.
func cpus(p *plugin.Plugin, events ...plugin.Event) (all []string) {
	for _, call := range p.Calls().Only(events...) {
		all = append(all, string(call.Event)+" "+cpuOf(call.Container))
	}
	return all
}

// announced is a pod with its announcement, in CRI's field or the annotation.
func announced(t *testing.T, n *node.Node, how string, what hookline.Announcement) *runtime.PodSandboxConfig {
	t.Helper()
	pod := n.CRI().Pod("web")
	if how == "field" {
		require.NoError(t, hookline.SetPodResources(pod, what))
		return pod
	}
	key, value, err := hookline.PodResourcesAnnotation(what)
	require.NoError(t, err)
	pod.Annotations = map[string]string{key: value}
	return pod
}

// All containers' resources are known in RunPodSandbox, and again after a restart.
func TestR1_ResourcesOfAllContainers(t *testing.T) {
	const sum = "cpu 750m, memory 160Mi"
	for _, how := range []string{"field", "annotation"} {
		t.Run(how, func(t *testing.T) {
			n := startNode(t)
			p := plugin.New("10", "sums")
			connect(t, n, p)
			ctx, c := deadline(t), n.CRI()
			pod := announced(t, n, how, threeContainers())
			id, err := c.RunPod(ctx, pod)
			require.NoError(t, err)
			stockBreaks(t, "R1", toldNothing, func(t require.TestingT) {
				assert.Equal(t, []string{sum}, sums(p, plugin.RunPodSandbox))
			})

			late := plugin.New("20", "late")
			connect(t, n, late)
			require.NoError(t, n.Kill(ctx))
			require.NoError(t, n.Boot(ctx))
			after := plugin.New("30", "after")
			connect(t, n, after)
			_, err = c.Create(ctx, id, pod, c.Container("main"))
			require.NoError(t, err)
			require.NoError(t, c.StopPod(ctx, id))
			require.NoError(t, c.RemovePod(ctx, id))
			stockBreaks(t, "R1", toldNothing, func(t require.TestingT) {
				assert.Equal(t, []string{sum}, sums(late, plugin.Synchronize))
				assert.Equal(t, []string{sum}, sums(after, plugin.Synchronize))
				for _, event := range []plugin.Event{plugin.CreateContainer, plugin.StopPodSandbox, plugin.RemovePodSandbox} {
					assert.Equal(t, []string{sum}, sums(after, event), event)
				}
				assert.Equal(t, []string{"CreateContainer 500m"}, cpus(after, plugin.CreateContainer), "as announced")
			})
		})
	}
}

// A pod without any, an old client, and a plugin that does not look.
func TestR1_WithoutResources(t *testing.T) {
	n := startNode(t)
	p := plugin.New("10", "sums")
	connect(t, n, p)
	l := newLife(t, n, "web")
	l.end(t)
	assert.Equal(t, []string{"untold"}, sums(p, plugin.RunPodSandbox))
	assert.Equal(t, []string{"CreateContainer untold"}, cpus(p, plugin.CreateContainer))
}

// The field wins over the annotation.
func TestR1_FieldWins(t *testing.T) {
	n := startNode(t)
	p := plugin.New("10", "sums")
	connect(t, n, p)
	pod := announced(t, n, "annotation", hookline.Announcement{Containers: []hookline.Container{{Name: "main", Type: hookline.Main, Resources: requests("9", "9Gi")}}})
	require.NoError(t, hookline.SetPodResources(pod, threeContainers()))
	_, err := n.CRI().RunPod(deadline(t), pod)
	require.NoError(t, err)
	stockBreaks(t, "R1", toldNothing, func(t require.TestingT) {
		assert.Equal(t, []string{"cpu 750m, memory 160Mi"}, sums(p, plugin.RunPodSandbox))
	})
}

// A container's own resources, and what an in-place update makes of them.
func TestR2_ContainersAndUpdates(t *testing.T) {
	n := startNode(t)
	p := plugin.New("10", "sums")
	connect(t, n, p)
	ctx, c := deadline(t), n.CRI()
	pod := announced(t, n, "field", threeContainers())
	id, err := c.RunPod(ctx, pod)
	require.NoError(t, err)
	config := c.Container("main")
	require.NoError(t, hookline.SetContainerResources(config, requests("0.5", "128Mi"))) // 500m in other words
	container, err := c.Create(ctx, id, pod, config)
	require.NoError(t, err)
	require.NoError(t, c.Start(ctx, container))
	require.NoError(t, n.Settled(ctx, container))

	update := &runtime.UpdateContainerResourcesRequest{ContainerId: container, Linux: &runtime.LinuxContainerResources{CpuShares: 1024}}
	require.NoError(t, hookline.SetContainerUpdate(update, requests("1", "128Mi")))
	_, err = c.Runtime.UpdateContainerResources(ctx, update)
	require.NoError(t, err)
	stockBreaks(t, "R2", toldNothing, func(t require.TestingT) {
		assert.Equal(t, []string{"CreateContainer 500m", "StartContainer 500m", "UpdateContainer 1", "PostUpdateContainer 1"},
			cpus(p, plugin.CreateContainer, plugin.StartContainer, plugin.UpdateContainer, plugin.PostUpdateContainer))
		assert.Equal(t, []string{"cpu 750m, memory 160Mi"}, sums(p, plugin.UpdateContainer), "until all agreed")
		assert.Equal(t, []string{"cpu 1250m, memory 160Mi"}, sums(p, plugin.PostUpdateContainer))
	})

	// All of a pod at once.
	all := &runtime.UpdatePodSandboxResourcesRequest{PodSandboxId: id}
	announcement := threeContainers()
	announcement.Containers[2].Resources = requests("3", "32Mi")
	require.NoError(t, hookline.SetPodUpdate(all, announcement))
	_, err = c.Runtime.UpdatePodSandboxResources(ctx, all)
	require.NoError(t, err)

	// What an update without resources leaves as it is.
	_, err = c.Runtime.UpdateContainerResources(ctx, &runtime.UpdateContainerResourcesRequest{ContainerId: container, Linux: &runtime.LinuxContainerResources{CpuShares: 512}})
	require.NoError(t, err)
	require.NoError(t, n.Kill(ctx))
	require.NoError(t, n.Boot(ctx))
	after := plugin.New("30", "after")
	connect(t, n, after)
	require.NoError(t, c.Stop(ctx, container, 0))
	stockBreaks(t, "R2", toldNothing, func(t require.TestingT) {
		assert.Equal(t, []string{"cpu 3500m, memory 160Mi"}, sums(p, plugin.UpdatePodSandbox))
		assert.Equal(t, []string{"cpu 3500m, memory 160Mi"}, sums(after, plugin.Synchronize))
		assert.Equal(t, []string{"StopContainer 500m"}, cpus(after, plugin.StopContainer), "the pod's update came last")
	})
}

// A container that differs is let through, logged or refused.
func TestR3_ContainerThatDiffers(t *testing.T) {
	const differs = `container \"main\" of pod default/web differs from what was announced with the pod: requests[cpu]: announced 500m, got 2`
	for setting, s := range map[string]struct{ logged, refused bool }{
		"off": {}, "warn": {logged: true}, "enforce": {refused: true}, "": {logged: true},
	} {
		t.Run("check "+setting, func(t *testing.T) {
			n := startNode(t, func(o *node.Options) {
				if setting != "" {
					o.Config = fmt.Sprintf("version = 3\n[plugins.'io.containerd.cri.v1.runtime']\npod_resources_check = %q\n", setting)
				}
			})
			p := plugin.New("10", "sums")
			connect(t, n, p)
			ctx, c := deadline(t), n.CRI()
			pod := announced(t, n, "field", threeContainers())
			id, err := c.RunPod(ctx, pod)
			require.NoError(t, err)

			create := func(name, cpu string) error {
				config := c.Container(name)
				require.NoError(t, hookline.SetContainerResources(config, requests(cpu, "128Mi")))
				_, err := c.Create(ctx, id, pod, config)
				return err
			}
			require.NoError(t, create("debug", "4"), "an ephemeral container is never announced")
			refused := create("main", "2")
			if !s.refused {
				require.NoError(t, refused)
			}
			promise := func(t require.TestingT) {
				if s.refused {
					require.Equal(t, codes.FailedPrecondition, status.Code(refused), refused)
					assert.ErrorContains(t, refused, strings.ReplaceAll(differs, `\`, ""))
					assert.Len(t, p.Calls().Only(plugin.CreateContainer), 1, "plugins are not asked for it")
					require.NoError(t, create("main", "500m"))
					return
				}
				log, err := n.Log()
				require.NoError(t, err)
				assert.Equal(t, s.logged, strings.Contains(log, differs))
			}
			if s.refused || s.logged {
				stockBreaks(t, "R3", "nothing is compared", promise)
			} else {
				promise(t)
			}
		})
	}
}

// What cannot be read fails no pod.
func TestR4_WhatCannotBeReadIsIgnored(t *testing.T) {
	field := func(value []byte) func(*runtime.PodSandboxConfig) {
		return func(c *runtime.PodSandboxConfig) {
			c.ProtoReflect().SetUnknown(protowire.AppendBytes(protowire.AppendTag(nil, 10, protowire.BytesType), value))
		}
	}
	for name, spoil := range map[string]func(*runtime.PodSandboxConfig){
		"malformed": field([]byte{0x0a, 0xff}),
		"another meaning": func(c *runtime.PodSandboxConfig) {
			c.ProtoReflect().SetUnknown(protowire.AppendVarint(protowire.AppendTag(nil, 10, protowire.VarintType), 1))
		},
		"a mebibyte":     field([]byte(strings.Repeat("\x0a\x00", 1<<19))),
		"500 containers": field([]byte(strings.Repeat("\x0a\x03\x0a\x01a", 500))),
		"negative": func(c *runtime.PodSandboxConfig) {
			c.Annotations = map[string]string{"hookline.dev/pod-resources": `{"containers": [{"name": "main", "type": "CONTAINER", "kubernetesResources": {"requests": {"cpu": "-1"}}}]}`}
		},
		"no JSON": func(c *runtime.PodSandboxConfig) {
			c.Annotations = map[string]string{"hookline.dev/pod-resources": "cpu: 1"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			n := startNode(t)
			p := plugin.New("10", "sums")
			connect(t, n, p)
			ctx, c := deadline(t), n.CRI()
			pod := c.Pod("web")
			spoil(pod)
			id, err := c.RunPod(ctx, pod)
			require.NoError(t, err)
			container, err := c.Create(ctx, id, pod, c.Container("main"))
			require.NoError(t, err)
			require.NoError(t, c.Start(ctx, container))
			assert.Equal(t, []string{"untold"}, sums(p, plugin.RunPodSandbox))
			stockBreaks(t, "R4", "nothing is read", func(t require.TestingT) {
				log, err := n.Log()
				require.NoError(t, err)
				assert.Equal(t, 1, strings.Count(log, "of pod default/web"), "it is logged once")
				assert.Contains(t, log, "ignoring the resources in the ")
			})
		})
	}
}

// crictl inspectp shows them.
func TestR1_VerboseStatus(t *testing.T) {
	n := startNode(t)
	ctx, c := deadline(t), n.CRI()
	id, err := c.RunPod(ctx, announced(t, n, "field", threeContainers()))
	require.NoError(t, err)
	stockBreaks(t, "R1", "nothing is shown", func(t require.TestingT) {
		r, err := c.Runtime.PodSandboxStatus(context.Background(), &runtime.PodSandboxStatusRequest{PodSandboxId: id, Verbose: true})
		require.NoError(t, err)
		assert.Contains(t, r.GetInfo()["podResources"], `{"name":"side","type":"CONTAINER","kubernetesResources":{"requests":{"cpu":"250m","memory":"32Mi"}}}`)
	})
}

// The shim of a sandbox gets them with CreateSandbox, wherever they came from.
func TestR1_ShimThatMakesSandboxes(t *testing.T) {
	for how, breaks := range map[string]string{"field": "", "annotation": "the shim has to know the annotation"} {
		t.Run(how, func(t *testing.T) {
			n := startSandboxer(t)
			pod := announced(t, n, how, threeContainers())
			id, err := n.CRI().RunPod(deadline(t), pod)
			require.NoError(t, err)
			holds(t, "R1", breaks, func(t require.TestingT) {
				found, err := filepath.Glob(filepath.Join(n.Folder(), "*", "*", "*", id, "options"))
				require.NoError(t, err)
				require.Len(t, found, 1)
				text, err := os.ReadFile(found[0])
				require.NoError(t, err)
				got := &runtime.PodSandboxConfig{}
				require.NoError(t, proto.Unmarshal(text, got))
				want := n.CRI().Pod("web")
				if err := hookline.SetPodResources(want, threeContainers()); err != nil {
					require.NoError(t, err)
				}
				assert.Equal(t, want.ProtoReflect().GetUnknown(), got.ProtoReflect().GetUnknown())
			})
		})
	}
}
