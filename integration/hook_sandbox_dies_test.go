// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/hookline-nri/hookline/integration/node"
	"github.com/hookline-nri/hookline/integration/plugin"
)

// What makes a pod in the midst of its hook one that cannot come to be.
func TestL5_PodFailsIfItsSandboxDiesInTheHook(t *testing.T) {
	t.Parallel()
	for what, end := range map[string]struct {
		kill  func(*node.Node, inHook) error
		clean func(require.TestingT, target)
	}{
		"process": {func(_ *node.Node, pod inHook) error { return unix.Kill(pod.PID, unix.SIGKILL) }, requireNothingLeft},
		"shim": {func(n *node.Node, pod inHook) error {
			pid, err := n.Shim(pod.ID)
			if err == nil {
				err = unix.Kill(pid, unix.SIGKILL)
			}
			return err
		}, requireNothingLeftButSockets}, // which it cannot remove any more
	} {
		t.Run(what, func(t *testing.T) {
			n := startNode(t, patient.set)
			first, second := plugin.New("10", "first"), plugin.New("20", "second")
			connect(t, n, first, second)
			pod := newInHook(t, n, first, "doomed")
			require.NoError(t, end.kill(n, pod))

			promise(t, "L5", "a pod fails when the "+what+" of its sandbox dies in the hook", onStock("the hooks go on"), func(t require.TestingT) {
				// It is known at once, and undone when the plugin has answered (L4).
				requireWaiting(t, n, first, 1)
				pod.Gate.Release()
				assert.ErrorContains(t, requireEnds(t, pod.Ran, "RunPodSandbox"), "before it was ready")
			})
			pod.Gate.Release()
			promise(t, "L3", "its end is told to the plugin that was asked", onStock("it is not told"), func(t require.TestingT) {
				requireSoon(t, "the end", func(context.Context) error { return hasAnswered(first, plugin.RemovePodSandbox) })
				assert.Equal(t, undone, first.Calls().Named("doomed").Events())
			})
			promise(t, "L7", "no other plugin is asked for it", onStock("the next one is"), func(t require.TestingT) {
				assert.Empty(t, second.Calls().Named("doomed").Events(), "was not asked")
			})
			promise(t, "L7", "nothing is left of it", onStock("it is there"), func(t require.TestingT) { end.clean(t, n) })
			promise(t, "L7", "it can be created again at once", onStock("it is there"), func(t require.TestingT) {
				requirePodRunsAgain(t, n, pod.Config)
				end.clean(t, n)
			})
		})
	}
}
