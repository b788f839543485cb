// SPDX-License-Identifier: Apache-2.0

package shims

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
)

// A shim that answers that it cannot shut its sandbox down now still runs, and is asked again.
func TestL7_ShimThatIsUnavailableForAMomentEndsWithItsPod(t *testing.T) {
	t.Parallel()
	n := StartSandboxer(t)
	ctx, config := WithinAMinute(t), n.CRI().Pod("busy")
	config.Annotations = map[string]string{"hookline.test/unavailable-at-first": "yes"}
	pod, err := n.CRI().RunPod(ctx, config)
	require.NoError(t, err)
	require.NoError(t, n.CRI().StopPod(ctx, pod))
	if err := n.CRI().RemovePod(ctx, pod); err != nil { // as the kubelet does
		t.Logf("first removal: %v", err)
		require.NoError(t, n.CRI().RemovePod(ctx, pod))
	}
	Promise(t, "L7", "nothing is left of the pod", KeptOnStock, func(t require.TestingT) { RequireNoSandboxLeft(t, n) })
}

// A sandbox that takes long to shut down, as a virtual machine whose agent does not answer, has the
// time of the pod's caller.
func TestL7_SandboxThatTakesLongToShutDownEndsWithItsPod(t *testing.T) {
	t.Parallel()
	n := StartSandboxer(t)
	config := n.CRI().Pod("heavy")
	config.Annotations = map[string]string{"hookline.test/fails-to-start": "yes", "hookline.test/shutdown-takes": "12s"}
	_, err := n.CRI().RunPod(WithinAMinute(t), config)
	require.ErrorContains(t, err, "the agent in the sandbox does not answer")
	Promise(t, "L7", "nothing is left of the pod", KeptOnStock, func(t require.TestingT) { RequireNoSandboxLeft(t, n) })
}

// A shim that does not report the state of its sandbox does not block the stop of its containers. A
// shim that reports the exit only with the shutdown does not block the stop of its pod.
func TestL12_StopDoesNotWaitLongForItsEvent(t *testing.T) {
	t.Parallel()
	n := StartSandboxer(t)
	ctx, c := WithinAMinute(t), n.CRI()
	took := func(f func() error) time.Duration {
		begun := time.Now()
		require.NoError(t, f())
		return time.Since(begun)
	}
	l := NewLife(t, n, "silent")
	bundle, err := filepath.Glob(filepath.Join(n.Folder(), "*", "io.containerd.sandbox.controller.v1.shim", "*", l.Pod, "options"))
	require.NoError(t, err)
	require.Len(t, bundle, 1)
	silent := filepath.Join(filepath.Dir(bundle[0]), "hang-status")
	require.NoError(t, os.WriteFile(silent, nil, 0o600))
	container := took(func() error { return c.Stop(ctx, l.Container, 0) })
	require.NoError(t, os.Remove(silent))

	late := c.Pod("late")
	late.Annotations = map[string]string{"hookline.test/exits-with-shutdown": "yes"}
	pod, err := c.RunPod(ctx, late)
	require.NoError(t, err)
	stopped := took(func() error { return c.StopPod(ctx, pod) })
	removed := took(func() error { return c.RemovePod(ctx, pod) })
	l.End(t)
	Promise(t, "L12", "a stop does not wait long for its event", KeptOnStock, func(t require.TestingT) {
		const long = 6 * time.Second // the stop waits at most two seconds
		assert.Less(t, container, long, "of a container")
		assert.Less(t, stopped, long, "of a pod")
		assert.Less(t, removed, long, "that is removed")
	})
	RequireNoSandboxLeft(t, n)
}
