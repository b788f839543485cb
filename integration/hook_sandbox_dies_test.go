// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"testing"

	"github.com/hookline-nri/hookline/integration/node"
	"github.com/hookline-nri/hookline/integration/plugin"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// What makes a pod in the midst of its hook one that cannot come to be.
func TestL5_SandboxThatDiesInTheHookFailsThePod(t *testing.T) {
	for what, end := range map[string]struct {
		kill  func(*node.Node, inHook) error
		clean func(require.TestingT, *node.Node)
	}{
		"process": {func(_ *node.Node, pod inHook) error { return unix.Kill(pod.pid, unix.SIGKILL) }, requireNothingLeft},
		"shim": {func(n *node.Node, pod inHook) error {
			pid, err := n.Shim(pod.id)
			if err == nil {
				err = unix.Kill(pid, unix.SIGKILL)
			}
			return err
		}, requireNothingLeftButSockets}, // which it cannot remove any more
	} {
		t.Run(what, func(t *testing.T) {
			n := startNode(t, slowRequests)
			first, second := plugin.New("10", "first"), plugin.New("20", "second")
			connect(t, n, first, second)
			pod := newInHook(t, n, first, "doomed")
			require.NoError(t, end.kill(n, pod))

			stockBreaks(t, "L5", "when the "+what+" of a sandbox dies during a hook, the hooks go on", func(t require.TestingT) {
				// It does not wait for the plugin, which has not answered.
				assert.ErrorContains(t, requireEnds(t, pod.ran, "RunPodSandbox"), "before it was ready")
				pod.gate.Release()
				requireSoon(t, "the end", func(context.Context) error { return hasAnswered(first, plugin.RemovePodSandbox) })
				assert.Equal(t, undone, first.Calls().Named("doomed").Events())
				assert.Empty(t, second.Calls().Named("doomed").Events(), "was not asked")
				end.clean(t, n)
				requirePodRunsAgain(t, n, pod.config)
				end.clean(t, n)
			})
		})
	}
}
