// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"strings"
	"time"

	nri "github.com/containerd/nri/pkg/adaptation"
)

// Status is the status of NRI and its plugins, in the form in which it is shown.
type Status struct {
	Enabled bool           `json:"enabled"`
	Plugins []PluginStatus `json:"plugins"` // in the order in which they receive events

	// Waits has the plugin that each pod being created waits for, by the id of the pod.
	Waits map[string]WaitStatus `json:"-"`
}

// PluginStatus is the status of one plugin.
type PluginStatus struct {
	Name          string              `json:"name"`
	Index         string              `json:"index"`
	Pid           int                 `json:"pid,omitempty"` // 0 if unknown
	Synchronized  bool                `json:"synchronized"`  // false until it has answered Synchronize
	Span                              // since its registration began
	Subscriptions []string            `json:"subscriptions"`
	FailurePolicy FailurePolicyStatus `json:"failurePolicy"`
	QueueLength   int                 `json:"queueLength"` // events that wait for it
	Pods          int                 `json:"pods"`        // that it knows
	Containers    int                 `json:"containers"`  // that it knows
	CurrentEvent  *EventStatus        `json:"currentEvent,omitempty"`
	Overdue       bool                `json:"overdue"` // the current event has timed out: no request waits for the plugin until it answers
	LastError     *ErrorStatus        `json:"lastError,omitempty"`
}

// FailurePolicyStatus is the policy for a plugin that does not answer a request.
type FailurePolicyStatus struct {
	FailRequest   bool `json:"failRequest"`
	KeepConnected bool `json:"keepConnected"`
}

// EventStatus is an event that a plugin has not answered yet.
type EventStatus struct {
	Event     string `json:"event"`
	Pod       string `json:"pod,omitempty"`       // its id
	Container string `json:"container,omitempty"` // its id
	Span
}

// ErrorStatus is the error of the last event that failed.
type ErrorStatus struct {
	Message string    `json:"message"`
	At      time.Time `json:"at"`
}

// WaitStatus is a plugin that a hook waits for, since the event was sent to it. Behind is the
// earlier event, if any, that the plugin has to answer first.
type WaitStatus struct {
	Plugin string `json:"plugin"`
	Behind string `json:"behind,omitempty"`
	Span
}

// Span is when something began, and the time since then.
type Span struct {
	Since    time.Time `json:"since"`
	Duration string    `json:"duration"`
}

// NewSpan returns the time from since until now.
func NewSpan(since time.Time) Span {
	return Span{Since: since, Duration: time.Since(since).Round(time.Millisecond).String()}
}

// Status returns the status of NRI and its plugins. It never waits.
func (l *local) Status() Status {
	s := Status{Plugins: []PluginStatus{}}
	if !l.IsEnabled() {
		return s
	}
	s.Enabled = true
	for _, p := range l.nri.PluginStatus() {
		s.Plugins = append(s.Plugins, pluginStatus(p))
	}
	s.Waits = map[string]WaitStatus{}
	for _, w := range l.nri.Waits() {
		if w.Container == "" {
			s.Waits[w.Pod] = WaitStatus{Plugin: w.Plugin, Behind: w.Behind, Span: NewSpan(w.Since)}
		}
	}
	return s
}

func pluginStatus(p nri.PluginStatus) PluginStatus {
	index, name, _ := strings.Cut(p.Name, "-")
	s := PluginStatus{
		Name:          name,
		Index:         index,
		Pid:           p.Pid,
		Synchronized:  p.Synchronized,
		Span:          NewSpan(p.Since),
		Subscriptions: strings.Split(p.Events.PrettyString(), ","),
		FailurePolicy: FailurePolicyStatus{FailRequest: p.Policy.GetFailRequest(), KeepConnected: p.Policy.GetKeepConnected()},
		QueueLength:   p.Waiting,
		Overdue:       p.Overdue,
		Pods:          p.Pods,
		Containers:    p.Containers,
	}
	if p.Current != "" {
		s.CurrentEvent = &EventStatus{Event: p.Current, Pod: p.CurrentPod, Container: p.CurrentContainer, Span: NewSpan(p.CurrentSince)}
	}
	if p.LastError != nil {
		s.LastError = &ErrorStatus{Message: p.LastError.Error(), At: p.LastErrorAt}
	}
	return s
}
