// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"slices"

	"github.com/containerd/nri/internal/acknowledge"
	"github.com/containerd/nri/internal/lifecycle"
)

// acknowledge tells the plugin what containers have after updates that it asked for, if they are to
// be acknowledged. A container that no longer exists has an end, which the plugin receives, and one that
// is being created has a PostCreateContainer. A runtime that applies the updates of replies itself does
// not say when they are over.
func (p *plugin) acknowledge(updates []*ContainerUpdate) {
	if p.r.lookup == nil || !p.r.ordered {
		return
	}
	for _, u := range updates {
		if !acknowledge.Asked(u) {
			continue
		}
		if pod, _ := p.r.lookup("", u.GetContainerId()); pod != nil {
			p.r.engine.Tell(connection{p}, pod.GetId(), u.GetContainerId())
		}
	}
}

// dropped acknowledges the updates of the container itself in a reply to an update of it that is over:
// they do not apply.
func (p *plugin) dropped(updates []*ContainerUpdate, own string) {
	all := slices.DeleteFunc(slices.Clone(updates), func(u *ContainerUpdate) bool { return u.GetContainerId() != own })
	p.changes.add(func() { p.acknowledge(all) })
}

// afresh gives PostUpdateContainer what the container has now. The runtime has made its content before
// the plugins ahead were asked, and this one may have received newer values since, with an
// acknowledgement.
func (r *Adaptation) afresh(ev lifecycle.Event) lifecycle.Event {
	if r.lookup == nil || ev.Kind != lifecycle.PostUpdateContainer || ev.Late {
		return ev
	}
	if pod, ctr := r.lookup(ev.Pod, ev.Container); ctr.GetLinux().GetResources() != nil {
		ev.Request = whatHolds(ev.Kind, pod, ctr)
	}
	return ev
}
