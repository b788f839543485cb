// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"time"

	"github.com/hookline-nri/hookline/internal/nri/lifecycle"
)

// Wait is a pod or container whose creation waits for a plugin.
type Wait struct {
	Event     string // "RunPodSandbox" or "CreateContainer"
	Pod       string // its id
	Container string // its id, empty for a pod
	Plugin    string // index and name, as "10-logger"

	// Since is when the event was sent to the plugin. If Behind is set, it was not sent
	// yet: Behind is the event that the plugin handles now, and Since is when the first
	// plugin was asked for the object.
	Since  time.Time
	Behind string
}

// Waits returns the creations that wait for plugins, the oldest first.
func (r *Adaptation) Waits() []Wait {
	status := r.engine.Status()
	lanes := make(map[lifecycle.Connection]lifecycle.ConnectionStatus, len(status.Connections))
	for _, c := range status.Connections {
		lanes[c.Conn] = c
	}
	var waits []Wait
	for _, c := range status.Creations {
		if c.Asking == nil {
			continue
		}
		w := Wait{
			Event:     c.Event.Kind.String(),
			Pod:       c.Event.Pod,
			Container: c.Event.Container,
			Plugin:    c.Asking.Name(),
			Since:     c.Since,
		}
		lane := lanes[c.Asking]
		switch at := lane.Current; {
		case at.Kind == c.Event.Kind && at.Pod == w.Pod && at.Container == w.Container:
			w.Since = lane.CurrentSince
		case at.Kind != 0:
			w.Behind = at.String()
		}
		waits = append(waits, w)
	}
	return waits
}
