// SPDX-License-Identifier: Apache-2.0

package restart

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// Joining plugins do not receive exited containers, so the test looks for the container in CRI.
func TestL15_ContainerWhoseRemovalWasCutExistsAgain(t *testing.T) {
	t.Parallel()
	for _, was := range []struct {
		name  string
		event plugin.Event // that the plugin handles
		end   func(t *testing.T, n *node.Node, p *plugin.Plugin) <-chan error
		mend  func(t *testing.T, n *node.Node, container string)
		stock Breach
	}{
		{"in its removal", plugin.RemoveContainer, removeContainer, func(*testing.T, *node.Node, string) {}, KeptOnStock},
		{"as its creation was undone", plugin.StopContainer, failCreation, func(t *testing.T, n *node.Node, id string) {
			require.NoError(t, os.RemoveAll(inTheWay(n, id)))
		}, OnStock("its record is deleted before plugins receive the end")},
	} {
		t.Run(was.name, func(t *testing.T) {
			t.Parallel()
			n := StartNode(t, WithNeeds(Patient))
			p := plugin.New("10", "holds")
			Connect(t, n, p)
			gate := NewGate(t)
			p.On(was.event, gate.Hold)
			ended := was.end(t, n, p)
			RequireClosed(t, gate.Entered(), string(was.event))
			id := p.Calls().Only(was.event)[0].Container.GetId()
			was.mend(t, n, id)
			RequireKilledAndBack(t, n, ended)
			ctx := WithinAMinute(t)

			Promise(t, "L15", "the container exists after the restart", was.stock, func(t require.TestingT) {
				left, err := n.CRI().Left(ctx)
				require.NoError(t, err)
				assert.Contains(t, Lines(left), "CRI container "+id)
			})
			gate.Release()
			RemoveAllPods(ctx, t, n.CRI())
			Promise(t, "L7", "nothing is left of the container", KeptOnStock, func(t require.TestingT) { RequireNothingLeftButSockets(t, n) })
		})
	}
}

// removeContainer removes the container of a pod.
func removeContainer(t *testing.T, n *node.Node, _ *plugin.Plugin) <-chan error {
	t.Helper()
	l := NewLife(t, n, "removed")
	require.NoError(t, n.CRI().Stop(WithinAMinute(t), l.Container, 0))
	return InBackground(func() error { return n.CRI().Remove(WithinAMinute(t), l.Container) })
}

// failCreation makes the creation of a container fail after its record was made, by a folder in
// place of its status.
func failCreation(t *testing.T, n *node.Node, p *plugin.Plugin) <-chan error {
	t.Helper()
	container := NewInCreation(t, n, p, "pod")
	require.NoError(t, os.MkdirAll(filepath.Join(inTheWay(n, container.ID), "taken"), 0o700))
	container.Gate.Release()
	return container.Created
}

// inTheWay is a folder where a file with the container's status should be written.
func inTheWay(n *node.Node, id string) string {
	return filepath.Join(n.Folder(), "root", "io.containerd.grpc.v1.cri", "containers", id, "status")
}
