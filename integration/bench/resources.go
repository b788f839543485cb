// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/hookline-nri/hookline/podresources"
)

// announcedContainers is the number of containers in the announcement of a pod.
const announcedContainers = 20

// resources measures the cost of announced resources. On each side, pods with and without an
// announcement take turns, too: they differ less than the two sides do. Stock ignores an
// announcement.
func (b *bench) resources(ctx context.Context) (_ []Row, retErr error) {
	p, err := b.start(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer func() { retErr = errors.Join(retErr, p.close()) }()
	if err := p.both(func(s *side) error { return s.warmDelivered(ctx) }); err != nil {
		return nil, err
	}
	without := Row{What: "RunPodSandbox, no resources announced", Name: "Resources/containers=0", Unit: "sec/op"}
	with := Row{
		What: fmt.Sprintf("RunPodSandbox, resources of %d containers", announcedContainers),
		Name: fmt.Sprintf("Resources/containers=%d", announcedContainers), Unit: "sec/op",
	}
	defer b.step("%d pods of each with resources, and as many without, one at a time", b.Counts.Runs)()
	for turn := range b.Counts.Runs {
		rows := []*Row{&without, &with}
		if turn/2%2 == 1 { // each of the four is in each place equally often
			slices.Reverse(rows)
		}
		if err := p.turn(turn, func(s *side) error {
			for _, row := range rows {
				pod := s.CRI().Pod("pod")
				if row == &with {
					if err := announce(pod); err != nil {
						return err
					}
				}
				took, err := lifeOf(ctx, s.CRI(), pod, 0)
				if err != nil {
					return err
				}
				row.of(s).add(took)
			}
			return nil
		}); err != nil {
			return nil, err
		}
	}
	with.Goals = []Goal{ratioAtMost(1.02, with.Patched, without.Patched, "patched without")}
	return []Row{without, with}, nil
}

// warmDelivered is warm for both kinds of pods. It checks that the patched side reads the
// announcement, and that stock does not.
func (s *side) warmDelivered(ctx context.Context) error {
	if err := s.warm(ctx); err != nil {
		return err
	}
	pod := s.CRI().Pod("warm-announced")
	if err := announce(pod); err != nil {
		return err
	}
	id, err := s.CRI().RunPod(ctx, pod)
	if err != nil {
		return err
	}
	status, err := s.CRI().Runtime.PodSandboxStatus(ctx, &runtime.PodSandboxStatusRequest{PodSandboxId: id, Verbose: true})
	if err != nil {
		return err
	}
	if _, read := status.GetInfo()["podResources"]; read != (s.name == patched) {
		return fmt.Errorf("read the resources of a pod: %t", read)
	}
	return s.end(ctx, id)
}

// announce adds an announcement to a pod, of containers with a bit of everything.
func announce(pod *runtime.PodSandboxConfig) error {
	quantities := func(cpu, memory string) map[string]resource.Quantity {
		return map[string]resource.Quantity{"cpu": resource.MustParse(cpu), "memory": resource.MustParse(memory)}
	}
	var announcement podresources.Pod
	for i := range announcedContainers {
		name := fmt.Sprintf("container-%d", i)
		announcement.Containers = append(announcement.Containers, podresources.Container{
			Name:      name,
			Type:      podresources.MainContainer,
			Resources: podresources.Requirements{Requests: quantities("250m", "128Mi"), Limits: quantities("1", "1Gi")},
			Mounts: []podresources.Mount{
				{ContainerPath: "/data", HostPath: "/srv/" + name + "/data"},
				{ContainerPath: "/etc/" + name, HostPath: "/srv/" + name + "/config", ReadOnly: true, Propagation: podresources.PropagationHostToContainer},
			},
			Devices:    []podresources.Device{{ContainerPath: "/dev/fuse", HostPath: "/dev/fuse", Permissions: "rw"}},
			CDIDevices: []string{fmt.Sprintf("vendor.com/gpu=%d", i)},
		})
	}
	return podresources.SetPod(pod, announcement)
}
