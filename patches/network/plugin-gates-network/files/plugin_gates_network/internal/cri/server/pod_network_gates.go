// SPDX-License-Identifier: Apache-2.0

package server

import (
	"fmt"
	"strings"
	"time"

	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/containerd/containerd/v2/internal/nri"
)

// nriPluginDisconnected is the reason of NetworkReady when a required plugin that gates the
// network is disconnected.
const nriPluginDisconnected = "NRIPluginDisconnected"

// gateNetwork makes NetworkReady false if plugins that gate the network are disconnected (L20).
// If it is false already, the reason stays, and the message has both. The message has no
// duration, because each change of it is a write to the node's object.
func gateNetwork(gates []nri.NetworkGate, condition *runtime.RuntimeCondition) {
	var messages []string
	for _, g := range gates {
		if g.Closed {
			messages = append(messages, gateMessage(g))
		}
	}
	if len(messages) == 0 {
		return
	}
	if condition.Status {
		condition.Status, condition.Reason = false, nriPluginDisconnected
	} else {
		messages = append([]string{condition.Message}, messages...)
	}
	condition.Message = strings.Join(messages, "; ")
}

func gateMessage(g nri.NetworkGate) string {
	return fmt.Sprintf("required plugin %s is disconnected since %s", g.Plugin, g.Disconnected.UTC().Format(time.RFC3339))
}
