// SPDX-License-Identifier: Apache-2.0

// Command sizes is an example NRI plugin that sizes pods: it keeps a table with the sum of the
// requests of each pod's containers, from before the first of them exists until the pod is removed,
// and prints changes.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"syscall"

	"github.com/containerd/nri/pkg/api"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/hookline-nri/hookline/plugin"
	"github.com/hookline-nri/hookline/podresources"
)

func main() {
	socket := flag.String("socket", api.DefaultSocketPath, "NRI socket of the runtime")
	index := flag.String("index", "50", "position of the plugin among others, 00 to 99")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	p := &plugin.Plugin{Index: *index, Name: "sizes", Socket: *socket, Handler: &sizer{out: os.Stdout}}
	if err := p.Run(ctx); err != nil {
		log.Fatal(err)
	}
}

// sizer receives one event at a time, so that it needs no lock.
type sizer struct {
	out   io.Writer
	table map[string]size // by the pod's ID
}

type size struct{ cpu, memory string }

// Synchronize receives all pods. After a restart, a runtime sends the same resources as before.
func (s *sizer) Synchronize(_ context.Context, pods []*api.PodSandbox, _ []*api.Container) ([]*api.ContainerUpdate, error) {
	s.table = make(map[string]size) // pods that were removed while the plugin was disconnected are not in it
	for _, pod := range pods {
		s.keep(pod)
	}
	return nil, nil
}

// RunPodSandbox comes before the first container is created. A plugin would make room for all of
// them here, or reject the pod.
func (s *sizer) RunPodSandbox(_ context.Context, pod *api.PodSandbox) error {
	s.keep(pod)
	return nil
}

// PostUpdatePodSandbox comes when the resources of a pod were changed in place.
// UpdatePodSandbox comes before that, and any plugin may reject it.
func (s *sizer) PostUpdatePodSandbox(_ context.Context, pod *api.PodSandbox) error {
	s.keep(pod)
	return nil
}

// PostUpdateContainer comes when the resources of a container were changed. The pod's resources
// include the change by then.
func (s *sizer) PostUpdateContainer(_ context.Context, pod *api.PodSandbox, _ *api.Container) error {
	s.keep(pod)
	return nil
}

// RemovePodSandbox is the last event of a pod.
func (s *sizer) RemovePodSandbox(_ context.Context, pod *api.PodSandbox) error {
	delete(s.table, pod.GetId())
	fmt.Fprintf(s.out, "%s/%s is gone\n", pod.GetNamespace(), pod.GetName())
	return nil
}

// keep does the same for new and for known pods.
func (s *sizer) keep(pod *api.PodSandbox) {
	name := pod.GetNamespace() + "/" + pod.GetName()
	announced := podresources.FromPod(pod)
	if announced == nil {
		fmt.Fprintln(s.out, name, "is not announced")
		return
	}
	cpu, memory := request(announced, "cpu"), request(announced, "memory")
	now := size{cpu.String(), memory.String()}
	if s.table[pod.GetId()] == now {
		return
	}
	s.table[pod.GetId()] = now
	fmt.Fprintf(s.out, "%s requests cpu %s, memory %s\n", name, now.cpu, now.memory)
}

// request is a pod's request of a resource, as Kubernetes computes it: the request of the pod as a
// whole if its author gave one, or else the need of its containers at one time. Init containers run
// one at a time, and the main ones together.
//
// Restartable init containers run on beside the main ones, and look like the others here. For a pod
// with some of them, the true sum may be larger, but never more than that of all containers.
func request(announced *podresources.Pod, name string) resource.Quantity {
	if whole, ok := announced.Resources.Requests[name]; ok {
		return whole
	}
	var largest, together resource.Quantity
	for _, c := range announced.Containers {
		q := c.Resources.Requests[name]
		switch {
		case c.Type != podresources.InitContainer:
			together.Add(q)
		case q.Cmp(largest) > 0:
			largest = q
		}
	}
	if largest.Cmp(together) > 0 {
		return largest
	}
	return together
}
