// SPDX-License-Identifier: Apache-2.0

package plugintest

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/containerd/nri/pkg/api"

	"github.com/hookline-nri/hookline/podstate"
)

// A step is one thing that happens in a case.
type step struct {
	name string
	do   func(context.Context, *stage) error
}

// listed is a pod of Synchronize.
type listed struct {
	id    string
	state podstate.State
}

func ready(id string) listed    { return listed{id, podstate.Ready} }
func creating(id string) listed { return listed{id, podstate.Creating} }
func stopped(id string) listed  { return listed{id, podstate.Stopped} }
func unknown(id string) listed  { return listed{id, podstate.Unknown} }

// up starts the runtime, with these pods. A plugin that runs joins it.
func up(pods ...listed) step {
	return step{fmt.Sprintf("the runtime starts with %v", pods), func(ctx context.Context, s *stage) error {
		list(s, pods)
		if err := s.runtime.Start(); err != nil || s.plugin == nil {
			return err
		}
		return s.joined()
	}}
}

// down ends the runtime.
func down() step {
	return step{"the runtime ends", func(_ context.Context, s *stage) error {
		s.runtime.Stop()
		return nil
	}}
}

// join starts the plugin, and synchronizes it with these pods.
func join(pods ...listed) step {
	return step{fmt.Sprintf("the plugin joins, with %v", pods), func(ctx context.Context, s *stage) error {
		list(s, pods)
		return s.join(ctx)
	}}
}

// leave ends the plugin.
func leave() step {
	return step{"the plugin ends", func(ctx context.Context, s *stage) error { return s.leave(ctx) }}
}

func run(id string) step {
	return step{"RunPodSandbox of " + id, func(ctx context.Context, s *stage) error {
		return s.runtime.NRI().RunPodSandbox(ctx, &api.RunPodSandboxRequest{Pod: pod(id, podstate.Creating)})
	}}
}

// cut is the begin of an event whose plugin or runtime ends next.
func cut(event step) step {
	return step{event.name + " begins", func(ctx context.Context, s *stage) error {
		ctx, cancel := context.WithCancel(ctx) // a deadline that passes would end the connection
		defer cancel()
		defer time.AfterFunc(time.Millisecond, cancel).Stop()
		_ = event.do(ctx, s) // it is cut
		return nil
	}}
}

func stop(id string) step { return stopOf(pod(id, podstate.Ready)) }

func remove(id string) step { return removeOf(pod(id, podstate.Stopped)) }

// stopOf is the stop of a pod. The runtime may have little left of it.
func stopOf(p *api.PodSandbox) step {
	return step{"StopPodSandbox of " + p.GetId(), func(ctx context.Context, s *stage) error {
		return s.runtime.NRI().StopPodSandbox(ctx, &api.StopPodSandboxRequest{Pod: p})
	}}
}

func removeOf(p *api.PodSandbox) step {
	return step{"RemovePodSandbox of " + p.GetId(), func(ctx context.Context, s *stage) error {
		return s.runtime.NRI().RemovePodSandbox(ctx, &api.RemovePodSandboxRequest{Pod: p})
	}}
}

// holds checks what the plugin holds, by the pods' ids in their order.
func holds(ids ...string) step {
	return step{fmt.Sprintf("now it should hold something for pods %q", ids), func(ctx context.Context, s *stage) error {
		return s.holds(ctx, ids)
	}}
}

func list(s *stage, pods []listed) {
	var all []*api.PodSandbox
	for _, p := range pods {
		all = append(all, pod(p.id, p.state))
	}
	s.runtime.List(all, nil)
}

// pod is a pod. Ids that differ behind a dash alone are sandboxes of one pod of Kubernetes.
func pod(id string, state podstate.State) *api.PodSandbox {
	name, _, _ := strings.Cut(id, "-")
	p := &api.PodSandbox{Id: id, Name: name, Namespace: "default", Uid: "uid-" + name, Linux: &api.LinuxPodSandbox{CgroupParent: "/pods"}}
	podstate.Set(p, state)
	return p
}
