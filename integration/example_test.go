// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/hookline-nri/hookline/integration/node"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The example plugin keeps a file for each pod that is there, whenever it is
// started and stopped, on any runtime. What it is told of the pods it adopts is
// what a runtime without the contract does not say.
func TestExampleReconciles(t *testing.T) {
	n := startNode(t)
	ctx, c := deadline(t), n.CRI()
	program, folder := filepath.Join(t.TempDir(), "reconcile"), filepath.Join(t.TempDir(), "pods")
	build := exec.CommandContext(ctx, "go", "build", "-o", program, "./example/reconcile")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)

	stays, err := c.RunPod(ctx, c.Pod("stays"))
	require.NoError(t, err)
	goes, err := c.RunPod(ctx, c.Pod("goes"))
	require.NoError(t, err)

	stop := reconcile(t, n, program, folder)
	await(t, "both pods to be adopted", func(context.Context) error { return keeps(folder, stays, goes) })
	text, err := os.ReadFile(filepath.Join(folder, stays))
	require.NoError(t, err)
	assert.Contains(t, string(text), "default/stays ")
	stockBreaks(t, "L2", "what state a pod is in is not told", func(t require.TestingT) {
		assert.Equal(t, "default/stays ready\n", string(text))
	})

	comes, err := c.RunPod(ctx, c.Pod("comes"))
	require.NoError(t, err)
	assert.NoError(t, keeps(folder, stays, goes, comes), "a pod is kept by the time it is ready")
	stop()

	require.NoError(t, c.StopPod(ctx, goes))
	require.NoError(t, c.RemovePod(ctx, goes))
	stop = reconcile(t, n, program, folder)
	await(t, "the pod that went to be forgotten", func(context.Context) error { return keeps(folder, stays, comes) })

	require.NoError(t, c.StopPod(ctx, stays))
	assert.NoError(t, keeps(folder, comes), "a pod is forgotten when it is stopped")
	require.NoError(t, c.RemovePod(ctx, stays))
	require.NoError(t, c.StopPod(ctx, comes))
	require.NoError(t, c.RemovePod(ctx, comes))
	stop()
}

// reconcile runs the example plugin until the returned function is called.
func reconcile(t *testing.T, n *node.Node, program, folder string) (stop func()) {
	t.Helper()
	cmd := exec.Command(program, "-socket", n.NRISocket(), "-folder", folder)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	var said strings.Builder
	cmd.Stderr = &said
	require.NoError(t, cmd.Start())
	ended := false
	stop = func() {
		if ended {
			return
		}
		ended = true
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			t.Errorf("the example ended with %v: %s", err, said.String())
		}
	}
	t.Cleanup(stop)
	return stop
}

// keeps says whether the example keeps exactly these pods.
func keeps(folder string, pods ...string) error {
	files, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	kept := make(map[string]bool)
	for _, file := range files {
		kept[file.Name()] = true
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
