// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/testkit/node"
)

// agent is the CNI plugin of the cases, on a node of its own.
type agent struct {
	*testing.T
	*fixture.Agent
	n *node.Node
}

// withAgent has STATUS asked often.
func withAgent(settings ...string) func(*node.Options) {
	return func(o *node.Options) {
		o.Config = "version = 3\n[plugins.'io.containerd.cri.v1.runtime'.cni]\n" + strings.Join(append([]string{
			"status_interval = '20ms'",
		}, settings...), "\n") + "\n"
	}
}

// newAgent starts a node with an agent, and gives it the network.
func newAgent(t *testing.T, settings ...string) *agent {
	t.Helper()
	n := startNode(t, withAgent(settings...))
	return &agent{t, fixture.NewAgent(t, n, filepath.Join(n.Folder(), "cni", "addresses")), n}
}
