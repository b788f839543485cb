// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/containerd/nri/pkg/api"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/resource"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/hookline-nri/hookline/integration/node"
	"github.com/hookline-nri/hookline/integration/plugin"
	"github.com/hookline-nri/hookline/podresources"
)

const toldNothing = "plugins are told nothing"

// ways are those in which a pod can be announced.
var ways = []string{"field", "annotation"}

// requests are resources of a CPU and memory, in Kubernetes' words.
func requests(cpu, memory string) podresources.Requirements {
	return podresources.Requirements{Requests: map[string]resource.Quantity{
		"cpu": resource.MustParse(cpu), "memory": resource.MustParse(memory),
	}}
}

// threeContainers announces an init container and two main ones.
func threeContainers() podresources.Pod {
	return podresources.Pod{Containers: []podresources.Container{
		{Name: "setup", Type: podresources.InitContainer, Resources: requests("2", "64Mi")},
		{Name: "main", Type: podresources.MainContainer, Resources: requests("500m", "128Mi")},
		{Name: "side", Type: podresources.MainContainer, Resources: requests("250m", "32Mi")},
	}}
}

// allThree are what the three request together.
const allThree = "cpu 2750m, memory 224Mi"

// inFull announces all that can be, with the container "side", which has no
// more than its requests.
func inFull() podresources.Pod {
	all := threeContainers()
	all.Containers[0].Mounts = []podresources.Mount{{ContainerPath: "/seed", HostPath: "/srv/seed"}}
	main := &all.Containers[1]
	main.Resources.Limits = map[string]resource.Quantity{"vendor.com/gpu": resource.MustParse("1"), "memory": resource.MustParse("1Gi")}
	main.Mounts = []podresources.Mount{
		{ContainerPath: "/data", HostPath: "/srv/data", ReadOnly: true, RecursiveReadOnly: true, Propagation: podresources.PropagationHostToContainer},
		{ContainerPath: "/models", ReadOnly: true, Image: "example.com/models:1", ImageSubPath: "small"},
	}
	main.Devices = []podresources.Device{{ContainerPath: "/dev/fuse", HostPath: "/dev/fuse", Permissions: "rw"}}
	main.CDIDevices = []string{"vendor.com/gpu=0", "vendor.com/gpu=1"}
	all.Resources = requests("2", "1Gi")
	return all
}

// announced is a pod with its announcement, in CRI's field or the annotation.
func announced(t *testing.T, n target, how string, what podresources.Pod) *runtime.PodSandboxConfig {
	t.Helper()
	pod := n.CRI().Pod("web")
	if how == "field" {
		require.NoError(t, podresources.SetPod(pod, what))
		return pod
	}
	key, value, err := podresources.Annotation(what)
	require.NoError(t, err)
	pod.Annotations = map[string]string{key: value}
	return pod
}

// readingAnnotation has the runtime read the annotation of pods, where an admission
// policy would let only a webhook write it.
func readingAnnotation(o *node.Options) { withSetting(readsAnnotation)(o) }

const readsAnnotation = "pod_resources_annotation = true"

// withSetting is a line of the configuration of CRI's runtime.
func withSetting(line string) func(*node.Options) {
	return func(o *node.Options) {
		o.Config = "version = 3\n[plugins.'io.containerd.cri.v1.runtime']\n" + line + "\n"
	}
}

// podsOf are the pods that a plugin was told of with a kind of event.
func podsOf(p *plugin.Plugin, event plugin.Event) (all []*api.PodSandbox) {
	for _, call := range p.Calls().Only(event) {
		if event == plugin.Synchronize {
			all = append(all, call.Pods...)
		} else {
			all = append(all, call.Pod)
		}
	}
	return all
}

// requireTold checks that a plugin was told of one pod with an event, and what was
// announced of it, to the last word.
func requireTold(t require.TestingT, p *plugin.Plugin, event plugin.Event, want podresources.Pod) {
	pods := podsOf(p, event)
	require.Len(t, pods, 1, "%s of %s", event, p.Name())
	assert.Empty(t, cmp.Diff(&want, podresources.FromPod(pods[0])), "%s of %s (- announced, + told)", event, p.Name())
}

// sumOf is what all containers of a pod request together, and "untold" if nothing
// was announced.
func sumOf(pod *api.PodSandbox) string {
	announced := podresources.FromPod(pod)
	if announced == nil {
		return "untold"
	}
	cpu, memory := resource.Quantity{}, resource.Quantity{}
	for _, c := range announced.Containers {
		cpu.Add(c.Resources.Requests["cpu"])
		memory.Add(c.Resources.Requests["memory"])
	}
	return fmt.Sprintf("cpu %s, memory %s", cpu.String(), memory.String())
}

// sumsTold are what plugins were told with the pods of a kind of event.
func sumsTold(p *plugin.Plugin, event plugin.Event) (all []string) {
	for _, pod := range podsOf(p, event) {
		all = append(all, sumOf(pod))
	}
	return all
}

// cpuOf is the CPU that a container requests.
func cpuOf(ctr *api.Container) string {
	asked := podresources.FromContainer(ctr)
	if asked == nil {
		return "untold"
	}
	cpu := asked.Requests["cpu"]
	return cpu.String()
}

// cpusTold are those that plugins were told with the containers of events.
func cpusTold(p *plugin.Plugin, events ...plugin.Event) (all []string) {
	for _, call := range p.Calls().Only(events...) {
		all = append(all, string(call.Event)+" "+cpuOf(call.Container))
	}
	return all
}

// inspectp is what verbose status shows of a pod's resources.
func inspectp(t require.TestingT, n target, pod string) string {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	r, err := n.CRI().Runtime.PodSandboxStatus(ctx, &runtime.PodSandboxStatusRequest{PodSandboxId: pod, Verbose: true})
	require.NoError(t, err)
	return r.GetInfo()["podResources"]
}

// joinAfterKill kills the runtime, and returns a plugin that joins the next one.
func joinAfterKill(t *testing.T, n *node.Node) *plugin.Plugin {
	t.Helper()
	require.NoError(t, n.Kill(withinAMinute(t)))
	require.NoError(t, n.Boot(withinAMinute(t)))
	after := plugin.New("30", "after")
	connect(t, n, after)
	return after
}

// runAnnounced starts a node with a plugin, and a pod of three containers that were
// announced in the field.
func runAnnounced(t *testing.T) (n *node.Node, p *plugin.Plugin, pod *runtime.PodSandboxConfig, id string) {
	t.Helper()
	n = startNode(t)
	p = plugin.New("10", "sums")
	connect(t, n, p)
	pod = announced(t, n, "field", threeContainers())
	id, err := n.CRI().RunPod(withinAMinute(t), pod)
	require.NoError(t, err)
	return n, p, pod, id
}
