// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"cmp"

	"google.golang.org/protobuf/proto"

	"github.com/containerd/nri/internal/lifecycle"
	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/log"
)

// A Lookup returns a container and its pod or, if there is no id of a container, a pod, as they are
// now. It returns nil for one that no longer exists. A container whose resources it cannot read has
// none. The id of the pod may be empty if there is one of a container.
type Lookup func(pod, container string) (*PodSandbox, *Container)

// WithLookup tells plugins what a pod or container has, if they may have something else after an
// update. The runtime must end each update of a container that plugins agreed to, with
// PostUpdateContainer, or with UndoUpdateContainer if the update has failed. The same holds for pods.
func WithLookup(lookup Lookup) Option {
	return func(r *Adaptation) error {
		r.lookup = lookup
		return nil
	}
}

// UndoUpdateContainer ends an update of a container that the runtime has failed.
func (r *Adaptation) UndoUpdateContainer(pod, container string) error {
	return r.engine.Refused(lifecycle.Event{Kind: lifecycle.UpdateContainer, Pod: pod, Container: container})
}

// UndoUpdatePodSandbox ends an update of a pod that the runtime has failed.
func (r *Adaptation) UndoUpdatePodSandbox(pod string) error {
	return r.engine.Refused(lifecycle.Event{Kind: lifecycle.UpdatePodSandbox, Pod: pod})
}

// current adds what the pod or container has now to an event that says what holds, and reports
// whether there is something to say. An event with content stays as it is.
func (r *Adaptation) current(ev lifecycle.Event) (lifecycle.Event, bool) {
	if !ev.Late || ev.Kind.First() || ev.Request != nil {
		return ev, true
	}
	pod, ctr := r.lookup(ev.Pod, ev.Container)
	switch {
	case pod == nil, ev.Container != "" && ctr == nil:
		return ev, false
	case ev.Container != "" && ctr.GetLinux().GetResources() == nil:
		log.Warnf(noCtx, "container %s of pod %s: plugins do not receive what it has after an update: its resources cannot be read", ev.Container, ev.Pod)
		return ev, false
	}
	ev.Request = whatHolds(ev.Kind, pod, ctr)
	return ev, true
}

// whatHolds is the request of an event that says what a pod or container has.
func whatHolds(kind lifecycle.Kind, pod *PodSandbox, ctr *Container) any {
	if kind == lifecycle.UpdatePodSandbox {
		return &UpdatePodSandboxRequest{
			Pod:                    pod,
			OverheadLinuxResources: cmp.Or(pod.GetLinux().GetPodOverhead(), &LinuxResources{}),
			LinuxResources:         withLimits(pod.GetLinux().GetPodResources()),
		}
	}
	return &changedContainer{request: &UpdateContainerRequest{
		Pod: pod, Container: ctr, LinuxResources: withLimits(ctr.GetLinux().GetResources()),
	}}
}

// withLimits returns resources in which a limit of memory or CPU time that is not set is -1, as in
// the specification of OCI: a plugin that received a limit learns that it does not hold.
func withLimits(r *LinuxResources) *LinuxResources {
	r = proto.Clone(r).(*LinuxResources)
	if r == nil {
		r = &LinuxResources{}
	}
	if r.Memory == nil {
		r.Memory = &api.LinuxMemory{}
	}
	if r.Cpu == nil {
		r.Cpu = &api.LinuxCPU{}
	}
	for _, limit := range []**api.OptionalInt64{&r.Memory.Limit, &r.Cpu.Quota} {
		if (*limit).GetValue() == 0 {
			*limit = api.Int64(-1)
		}
	}
	return r
}
