// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/hookline-nri/hookline/internal/nri/lifecycle"

	"github.com/containerd/nri/internal/peer"
)

// handsOver says whether a plugin that registers under a name, as "10-logger", takes
// over from the one that is there: unless settings of the name, with its index or
// without, have both served.
func (r *Adaptation) handsOver(name string) bool {
	_, base, _ := strings.Cut(name, "-")
	return !r.pluginSettings[name].Twins && !r.pluginSettings[base].Twins
}

// originOf says where a plugin comes from: its pod, if that is known, or else its
// process. A pod that starts its plugin again is the same.
func originOf(conn lifecycle.Connection) string {
	switch p := conn.(connection).plugin; {
	case p.who.pod != peer.Pod{}:
		return "pod " + p.who.pod.UID
	case p.pid > 0:
		return "process " + strconv.Itoa(p.pid)
	}
	return ""
}

// unchanging copies the request for a container, which each plugin that is asked may
// change.
func unchanging(ev lifecycle.Event) any {
	if c, is := ev.Request.(*newContainer); is {
		return &newContainer{request: proto.Clone(c.request).(*CreateContainerRequest)}
	}
	return ev.Request
}
