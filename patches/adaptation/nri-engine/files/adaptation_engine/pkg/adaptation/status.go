// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"time"

	"google.golang.org/protobuf/proto"
)

// PluginStatus is the status of a plugin.
type PluginStatus struct {
	Name   string // index and name, as "10-logger"
	Pid    int    // zero if it is not a process of its own, or not known
	Events EventMask
	Policy *FailurePolicy // nil: all defaults

	Since        time.Time // when it began to join
	Synchronized bool      // whether it has joined
	Pods         int       // that it knows
	Containers   int       // that it knows

	Waiting          int       // events that wait for it
	Current          string    // event it has not answered yet, as "RunPodSandbox", empty if there is none
	CurrentPod       string    // id of the event's pod, empty for Synchronize
	CurrentContainer string    // id of the event's container, empty for that of a pod
	CurrentSince     time.Time // when the event was sent
	Overdue          bool      // whether it should have been answered by now
	LastError        error     // of the last event that failed, nil if none did
	LastErrorAt      time.Time
}

// PluginStatus returns the status of all plugins, in the order in which they are
// called.
func (r *Adaptation) PluginStatus() []PluginStatus {
	var all []PluginStatus
	for _, c := range r.engine.Status().Connections {
		p := c.Conn.(connection).plugin
		s := PluginStatus{
			Name:         p.name(),
			Pid:          p.pid,
			Events:       p.events,
			Since:        c.Since,
			Synchronized: c.Joined,
			Pods:         c.Pods,
			Containers:   c.Containers,
			Waiting:      c.Depth,
			Overdue:      c.Overdue,
			LastError:    c.LastError,
			LastErrorAt:  c.LastErrorAt,
		}
		if p.policy != nil {
			s.Policy = proto.Clone(p.policy).(*FailurePolicy)
		}
		if c.Current.Kind != 0 {
			s.Current, s.CurrentSince = c.Current.Kind.String(), c.CurrentSince
			s.CurrentPod, s.CurrentContainer = c.Current.Pod, c.Current.Container
		}
		all = append(all, s)
	}
	return all
}
