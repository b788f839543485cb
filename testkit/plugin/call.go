// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"time"

	"github.com/containerd/nri/pkg/api"

	"github.com/hookline-nri/hookline/plugin/podnetwork"
)

// Event is the name of an event in NRI's API.
type Event string

// The events of NRI, in the order of a life.
const (
	Configure                   Event = "Configure"
	Synchronize                 Event = "Synchronize"
	RunPodSandbox               Event = "RunPodSandbox"
	UpdatePodSandbox            Event = "UpdatePodSandbox"
	PostUpdatePodSandbox        Event = "PostUpdatePodSandbox"
	CreateContainer             Event = "CreateContainer"
	ValidateContainerAdjustment Event = "ValidateContainerAdjustment"
	PostCreateContainer         Event = "PostCreateContainer"
	StartContainer              Event = "StartContainer"
	PostStartContainer          Event = "PostStartContainer"
	UpdateContainer             Event = "UpdateContainer"
	PostUpdateContainer         Event = "PostUpdateContainer"
	StopContainer               Event = "StopContainer"
	RemoveContainer             Event = "RemoveContainer"
	StopPodSandbox              Event = "StopPodSandbox"
	RemovePodSandbox            Event = "RemovePodSandbox"
)

// Call is one event as the plugin received it, and its answer.
type Call struct {
	Event      Event
	Connection int             // the number of its connection, counted from 1
	Pod        *api.PodSandbox // nil for Configure and Synchronize
	Container  *api.Container  // nil for events of no container

	Pods       []*api.PodSandbox // of Synchronize
	Containers []*api.Container  // of Synchronize

	Resources *api.LinuxResources                     // of UpdatePodSandbox and UpdateContainer
	Overhead  *api.LinuxResources                     // of UpdatePodSandbox
	Proposed  *api.ValidateContainerAdjustmentRequest // of ValidateContainerAdjustment

	// A Reply may set these: Adjust for CreateContainer; Update for Synchronize,
	// CreateContainer, UpdateContainer and StopContainer; Network for RunPodSandbox.
	Adjust  *api.ContainerAdjustment
	Update  []*api.ContainerUpdate
	Network *podnetwork.Network

	Start time.Time // when the event arrived
	End   time.Time // when it was answered; zero while it is not
	Err   error     // the answer
	// Abandoned is the error of the runtime's context at that time: nil if the runtime
	// still waited for the answer.
	Abandoned error

	plugin *Plugin
}

// Calls are events in the order in which they arrived.
type Calls []Call

// Of keeps the events of one pod and of its containers.
func (c Calls) Of(podID string) Calls {
	return c.keep(func(call Call) bool { return call.Pod.GetId() == podID })
}

// Named keeps the events of pods of that name. The name is known before the id.
func (c Calls) Named(pod string) Calls {
	return c.keep(func(call Call) bool { return call.Pod.GetName() == pod })
}

// Only keeps the given events.
func (c Calls) Only(events ...Event) Calls {
	return c.keep(func(call Call) bool {
		for _, e := range events {
			if call.Event == e {
				return true
			}
		}
		return false
	})
}

// Events lists only the events.
func (c Calls) Events() []Event {
	events := make([]Event, 0, len(c))
	for _, call := range c {
		events = append(events, call.Event)
	}
	return events
}

// Connections splits a record by connection, in the order in which they were opened. Connections
// without events are left out.
func (c Calls) Connections() []Calls {
	var split []Calls
	place := map[int]int{}
	for _, call := range c {
		i, known := place[call.Connection]
		if !known {
			i = len(split)
			place[call.Connection] = i
			split = append(split, nil)
		}
		split[i] = append(split[i], call)
	}
	return split
}

// Latest returns the record of the last connection, empty if there was none.
func (c Calls) Latest() Calls {
	all := c.Connections()
	if len(all) == 0 {
		return nil
	}
	return all[len(all)-1]
}

func (c Calls) keep(wanted func(Call) bool) Calls {
	var kept Calls
	for _, call := range c {
		if wanted(call) {
			kept = append(kept, call)
		}
	}
	return kept
}
