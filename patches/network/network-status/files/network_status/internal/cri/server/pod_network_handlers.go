// SPDX-License-Identifier: Apache-2.0

package server

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/containerd/go-cni/netstatus"
)

const (
	// RuntimeHandlerNetworksReady is the type of a condition. The kubelet acts on
	// RuntimeReady and NetworkReady alone: a handler whose network fails does not make
	// the node NotReady.
	RuntimeHandlerNetworksReady = "RuntimeHandlerNetworksReady"

	// runtimeHandlerNetworksNotReady is its reason when it is false.
	runtimeHandlerNetworksNotReady = "RuntimeHandlerNetworksNotReady"
)

// handlerNetworkConditions returns the condition of the networks of runtime handlers, and none if
// no handler has a network of its own. It waits for no STATUS (N1). A network that has not
// answered yet does not count as failing.
func (c *criService) handlerNetworkConditions() []*runtime.RuntimeCondition {
	networks := c.networks()
	delete(networks, defaultNetworkPlugin)
	if len(networks) == 0 {
		return nil
	}
	var failing []string
	for _, handler := range slices.Sorted(maps.Keys(networks)) {
		s := networks[handler].Current()
		if !s.Ready() && s.State != netstatus.Unknown {
			failing = append(failing, fmt.Sprintf("runtime handler %q: %s: %s", handler, networkReasons[s.State], s))
		}
	}
	condition := &runtime.RuntimeCondition{Type: RuntimeHandlerNetworksReady, Status: len(failing) == 0}
	if !condition.Status {
		condition.Reason, condition.Message = runtimeHandlerNetworksNotReady, strings.Join(failing, "; ")
	}
	return []*runtime.RuntimeCondition{condition}
}
