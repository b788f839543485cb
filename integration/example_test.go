// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"io"
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
	ctx, c := withinAMinute(t), n.CRI()
	program, folder := example(t, "reconcile"), filepath.Join(t.TempDir(), "pods")

	stays, err := c.RunPod(ctx, c.Pod("stays"))
	require.NoError(t, err)
	goes, err := c.RunPod(ctx, c.Pod("goes"))
	require.NoError(t, err)

	stop := runExample(t, n, program, nil, "-folder", folder)
	requireSoon(t, "both pods to be adopted", func(context.Context) error { return keepsExactly(folder, stays, goes) })
	text, err := os.ReadFile(filepath.Join(folder, stays))
	require.NoError(t, err)
	assert.Contains(t, string(text), "default/stays ")
	stockBreaks(t, "L2", "what state a pod is in is not told", func(t require.TestingT) {
		assert.Equal(t, "default/stays ready\n", string(text))
	})

	comes, err := c.RunPod(ctx, c.Pod("comes"))
	require.NoError(t, err)
	assert.NoError(t, keepsExactly(folder, stays, goes, comes), "a pod is kept by the time it is ready")
	stop()

	require.NoError(t, c.StopPod(ctx, goes))
	require.NoError(t, c.RemovePod(ctx, goes))
	stop = runExample(t, n, program, nil, "-folder", folder)
	requireSoon(t, "the pod that went to be forgotten", func(context.Context) error { return keepsExactly(folder, stays, comes) })

	require.NoError(t, c.StopPod(ctx, stays))
	assert.NoError(t, keepsExactly(folder, comes), "a pod is forgotten when it is stopped")
	require.NoError(t, c.RemovePod(ctx, stays))
	require.NoError(t, c.StopPod(ctx, comes))
	require.NoError(t, c.RemovePod(ctx, comes))
	stop()
}

// example builds an example plugin.
func example(t *testing.T, name string) (program string) {
	t.Helper()
	program = filepath.Join(t.TempDir(), name)
	out, err := exec.CommandContext(withinAMinute(t), "go", "build", "-o", program, "./example/"+name).CombinedOutput()
	require.NoError(t, err, "%s", out)
	return program
}

// runExample runs an example plugin until the returned function is called. What it
// prints goes to a file, if there is one.
func runExample(t *testing.T, n *node.Node, program string, prints *os.File, args ...string) (stop func()) {
	t.Helper()
	cmd := exec.Command(program, append([]string{"-socket", n.NRISocket()}, args...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	var said strings.Builder
	cmd.Stderr = &said
	if prints != nil {
		cmd.Stdout = prints
	}
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

// keepsExactly says whether the example keeps exactly these pods.
func keepsExactly(folder string, pods ...string) error {
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

// The example plugin prints what each pod requests, whenever that is new to it.
func TestExampleSizes(t *testing.T) {
	n := startNode(t)
	ctx, c := withinAMinute(t), n.CRI()
	there := newLifeOf(t, n, announced(t, n, "field", threeContainers()))
	table, err := os.Create(filepath.Join(t.TempDir(), "table"))
	require.NoError(t, err)
	defer func() { assert.NoError(t, table.Close()) }()
	printed := func() string {
		text, err := os.ReadFile(table.Name())
		require.NoError(t, err)
		return string(text)
	}
	program := example(t, "sizes")
	stop := runExample(t, n, program, table)
	adopted := func(context.Context) error {
		if !strings.HasPrefix(printed(), "default/web ") {
			return fmt.Errorf("printed: %q", printed())
		}
		return nil
	}
	requireSoon(t, "the pod to be adopted", adopted)
	plain, err := c.RunPod(ctx, c.Pod("plain"))
	require.NoError(t, err)
	require.NoError(t, c.RemovePod(ctx, plain))
	require.NoError(t, update(ctx, n, there.container, requests("1500m", "128Mi")))
	require.NoError(t, update(ctx, n, there.container, requests("3", "128Mi")))
	require.NoError(t, updatePod(ctx, n, there.pod, threeContainers()))
	require.NoError(t, update(ctx, n, there.container, requests("4", "128Mi")))
	stockBreaks(t, "R1", toldNothing, func(t require.TestingT) {
		assert.Equal(t, `default/web requests cpu 2, memory 160Mi
default/plain is not announced
default/plain is gone
default/web requests cpu 3250m, memory 160Mi
default/web requests cpu 2, memory 160Mi
default/web requests cpu 4250m, memory 160Mi
`, printed())
	})

	// It is started again after the runtime was.
	stop()
	require.NoError(t, n.Kill(ctx))
	require.NoError(t, n.Boot(ctx))
	require.NoError(t, table.Truncate(0))
	_, err = table.Seek(0, io.SeekStart)
	require.NoError(t, err)
	stop = runExample(t, n, program, table)
	requireSoon(t, "the pod to be adopted again", adopted)
	there.end(t)
	stop()
	stockBreaks(t, "R1", toldNothing, func(t require.TestingT) {
		assert.Equal(t, "default/web requests cpu 4250m, memory 160Mi\ndefault/web is gone\n", printed())
	})
}
