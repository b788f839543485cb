// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hookline-nri/hookline/testkit/plugin"
)

// A pod that a plugin rejects has an event with the plugin's message, is retried with back-off, and
// leaves nothing of any try. It starts when the plugin approves it.
func TestL7_RejectedPodSaysWhyAndStartsLater(t *testing.T) {
	c := onCluster(t)
	c.nothingLeft(t)
	recorder := c.record(t, "recorder", recorderOptions{})
	recorder.connected(t)
	ns := c.namespace(t)

	pod := c.annotated(t, ns, "rejected", "e2e.hookline.dev/reject", "no room for it")
	c.event(t, ns, "rejected", "FailedCreatePodSandBox", "no room for it", "recorder")
	tries := func() plugin.Calls { return requireLawful(t, recorder.received(t), ns).Only(plugin.RunPodSandbox) }
	eventually(t, later, "another try", func(context.Context) error {
		if n := len(tries()); n < 3 {
			return fmt.Errorf("it had %d", n)
		}
		return nil
	})
	for i, try := range tries()[1:] {
		require.Greater(t, try.Start.Sub(tries()[i].Start), 2*time.Second, "the kubelet backs off")
	}

	none := []byte(`{"metadata":{"annotations":{"e2e.hookline.dev/reject":null}}}`)
	_, err := c.CoreV1().Pods(ns).Patch(t.Context(), pod.Name, mergePatch, none, metav1.PatchOptions{})
	require.NoError(t, err)
	c.podReady(t, ns, pod.Name)

	// The plugin received the end of each rejected sandbox.
	calls := requireLawful(t, recorder.received(t), ns)
	rejected := 0
	for _, try := range calls.Only(plugin.RunPodSandbox) {
		if try.Err != nil {
			rejected++
			id := try.Pod.GetId()
			require.Len(t, calls.Of(id).Only(plugin.StopPodSandbox, plugin.RemovePodSandbox), 2, "sandbox %s", id)
		}
	}
	require.GreaterOrEqual(t, rejected, 3)
	c.podGone(t, ns, pod.Name, soon)
}
