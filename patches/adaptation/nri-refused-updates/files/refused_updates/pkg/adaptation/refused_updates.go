// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"google.golang.org/protobuf/proto"

	"github.com/containerd/nri/internal/lifecycle"
	"github.com/containerd/nri/pkg/api"
)

// A Lookup returns a pod and, if its id is not empty, one of its containers, as they are now. It
// returns nil for one that no longer exists.
type Lookup func(pod, container string) (*PodSandbox, *Container)

// WithLookup tells plugins what a pod or container has after an update of it was refused. Without
// it they are left with the refused values.
func WithLookup(lookup Lookup) Option {
	return func(r *Adaptation) error {
		r.lookup = lookup
		return nil
	}
}

// UndoUpdateContainer tells plugins what a container has after the runtime failed an update to which
// they agreed.
func (r *Adaptation) UndoUpdateContainer(pod, container string) error {
	return r.engine.Refused(lifecycle.Event{Kind: lifecycle.UpdateContainer, Pod: pod, Container: container})
}

// UndoUpdatePodSandbox does the same for a pod.
func (r *Adaptation) UndoUpdatePodSandbox(pod string) error {
	return r.engine.Refused(lifecycle.Event{Kind: lifecycle.UpdatePodSandbox, Pod: pod})
}

func (r *Adaptation) whatHolds() func(lifecycle.Event) any {
	if r.lookup == nil {
		return nil
	}
	return r.holds
}

// holds makes the request that tells plugins what a pod or container has.
func (r *Adaptation) holds(ev lifecycle.Event) any {
	pod, ctr := r.lookup(ev.Pod, ev.Container)
	switch {
	case pod == nil, ev.Container != "" && ctr == nil:
		return nil
	case ev.Container != "":
		return &changedContainer{request: &UpdateContainerRequest{
			Pod: pod, Container: ctr, LinuxResources: withLimits(ctr.GetLinux().GetResources()),
		}}
	}
	return &UpdatePodSandboxRequest{
		Pod:                    pod,
		OverheadLinuxResources: pod.GetLinux().GetPodOverhead(),
		LinuxResources:         withLimits(pod.GetLinux().GetPodResources()),
	}
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
