// SPDX-License-Identifier: Apache-2.0

package cases

import (
	"context"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

var _ = Pod.has("L5_PodFailsIfTheProcessOfItsSandboxDiesInTheHook", Patient.AndSandbox(), func(t T) {
	PodFailsIfItsSandboxDiesInTheHook(t, t.Runtime(), "process", func(pod InHook) error { return KillProcess(pod.PID) }, RequireNothingLeft)
})

// PodFailsIfItsSandboxDiesInTheHook kills a part of a sandbox during the pod's hook. The pod
// must fail and be undone; clean checks that.
func PodFailsIfItsSandboxDiesInTheHook(t T, n Runtime, what string, kill func(InHook) error, clean func(require.TestingT, Runtime)) {
	first, second := NewPlugin(t, "10", "first"), NewPlugin(t, "20", "second")
	Connect(t, n, first, second)
	pod := NewInHook(t, n, first, "aborted")
	require.NoError(t, kill(pod))

	var errRan error
	t.Promise("L5", "a pod fails when the "+what+" of its sandbox dies in the hook", OnStock("the hooks go on"), func(t require.TestingT) {
		// It is known at once, and undone when the plugin has answered (L4).
		RequireWaiting(t, n, first, 1)
		pod.Gate.Release()
		errRan = RequireEnds(t, pod.Ran, "RunPodSandbox")
		assert.Error(t, errRan)
	})
	t.Words("L5", "the error says that it died before it was ready", OnStock("the hooks go on"), func(t require.TestingT) {
		assert.ErrorContains(t, errRan, "before it was ready")
	})
	pod.Gate.Release()
	t.Promise("L3", "the plugin that was asked receives the end", OnStock("it does not receive it"), func(t require.TestingT) {
		RequireSoon(t, "the end", func(context.Context) error { return HasAnswered(first, plugin.RemovePodSandbox) })
		assert.Equal(t, Undone, first.Calls().Named("aborted").Events())
	})
	t.Promise("L7", "no other plugin is asked about the pod", OnStock("the next plugin is asked"), func(t require.TestingT) {
		assert.Empty(t, second.Calls().Named("aborted").Events(), "was not asked")
	})
	t.Promise("L7", "nothing is left of the pod", OnStock("the pod exists"), func(t require.TestingT) { clean(t, n) })
	t.Promise("L7", "the pod can be created again at once", OnStock("the pod exists"), func(t require.TestingT) {
		RequirePodRunsAgain(t, n, pod.Config)
		clean(t, n)
	})
}
