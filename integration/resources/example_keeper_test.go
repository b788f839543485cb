// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
)

// The example plugin keeps a folder for each existing pod, whenever it is started and stopped, on any
// runtime. The state of the pods that it adopts is only in events of a runtime with the contract.
func TestL2_ExamplePluginReconciles(t *testing.T) {
	t.Parallel()
	n := StartNode(t)
	program, root := example(t, "keeper"), t.TempDir()
	folder := filepath.Join(root, "pods")
	ctx, c := WithinAMinute(t), n.CRI()

	stays, err := c.RunPod(ctx, c.Pod("stays"))
	require.NoError(t, err)
	goes, err := c.RunPod(ctx, c.Pod("goes"))
	require.NoError(t, err)

	stop := runExample(t, n, program, nil, "-root", root)
	RequireSoon(t, "both pods to be adopted", func(context.Context) error { return keepsExactly(folder, stays, goes) })
	text, err := os.ReadFile(filepath.Join(folder, stays, "pod"))
	require.NoError(t, err)
	assert.Contains(t, string(text), "default/stays ")
	Promise(t, "L2", "a plugin that joins receives the state of a pod", OnStock("it does not receive the state"), func(t require.TestingT) {
		assert.Equal(t, "default/stays ready\n", string(text))
	})

	comes, err := c.RunPod(ctx, c.Pod("comes"))
	require.NoError(t, err)
	assert.NoError(t, keepsExactly(folder, stays, goes, comes), "the plugin keeps a pod by the time it is Ready")
	stop()

	require.NoError(t, c.StopPod(ctx, goes))
	require.NoError(t, c.RemovePod(ctx, goes))
	stop = runExample(t, n, program, nil, "-root", root)
	RequireSoon(t, "the removed pod to be forgotten", func(context.Context) error { return keepsExactly(folder, stays, comes) })
	Promise(t, "L18", "it receives the missed end, which it has already handled in Synchronize", OnStock(NeverHears), func(t require.TestingT) {
		RequireSoon(t, "missed events", func(ctx context.Context) error {
			received, err := n.Metrics(ctx, "containerd_nri_plugin_missed_events_delivered_total")
			if err == nil && received[`{operation="RemovePodSandbox",outcome="answered",plugin="50-keeper"}`] != 1 {
				err = fmt.Errorf("delivered are %v", received)
			}
			return err
		})
		assert.NoError(t, keepsExactly(folder, stays, comes))
	})

	require.NoError(t, c.StopPod(ctx, stays))
	assert.NoError(t, keepsExactly(folder, comes), "the plugin forgets a pod when it is stopped")
	require.NoError(t, c.RemovePod(ctx, stays))
	require.NoError(t, c.StopPod(ctx, comes))
	require.NoError(t, c.RemovePod(ctx, comes))
	stop()
}

// keepsExactly returns nil if the example keeps exactly these pods.
func keepsExactly(folder string, pods ...string) error {
	folders, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	kept := make(map[string]bool)
	for _, f := range folders {
		kept[f.Name()] = true
	}
	for _, pod := range pods {
		if !kept[pod] {
			return fmt.Errorf("pod %s is not kept", pod)
		}
	}
	if len(kept) != len(pods) {
		return fmt.Errorf("%d pods are kept, want %d", len(kept), len(pods))
	}
	return nil
}
