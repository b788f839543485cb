// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"path/filepath"
	"strings"
	"testing"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/testkit/node"
)

// AgentNode is the CNI plugin of the cases, on a node of its own.
type AgentNode struct {
	*testing.T
	*Agent
	N *node.Node
}

// WithAgent has STATUS asked often.
func WithAgent(settings ...string) func(*node.Options) {
	return func(o *node.Options) {
		o.Config = "version = 3\n[plugins.'io.containerd.cri.v1.runtime'.cni]\n" + strings.Join(append([]string{
			"status_interval = '20ms'",
		}, settings...), "\n") + "\n"
	}
}

// StartAgent starts a node with an agent, and gives it the network.
func StartAgent(t *testing.T, settings ...string) *AgentNode {
	t.Helper()
	n := StartNode(t, WithAgent(settings...))
	return &AgentNode{t, NewAgent(t, n, filepath.Join(n.Folder(), "cni", "addresses")), n}
}
