// SPDX-License-Identifier: Apache-2.0

package shims

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/hookline-nri/hookline/conformance/cases"
	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

func TestL1_EventsOfAPodOfAShimComeInOrder(t *testing.T) {
	t.Parallel()
	n := StartSandboxer(t)
	p := plugin.New("10", "watches")
	Connect(t, n, p)
	l := NewLife(t, n, "ordinary")
	require.Equal(t, runtime.PodSandboxState_SANDBOX_READY, PodState(t, n, l.Pod))
	l.End(t)
	require.Equal(t, Whole, p.Calls().Of(l.Pod).Events())
	RequireNoSandboxLeft(t, n)
}

func TestL7_RejectedPodOfAShimIsUndone(t *testing.T) {
	t.Parallel()
	n := StartSandboxer(t)
	first, second, third := ConnectTrio(t, n)

	config := RunRejected(t, second, n)

	RequireUndoneWhileNetworkStood(t, first, config)
	RequireUndoneWhileNetworkStood(t, second, config)
	RequireNoSandboxLeft(t, n)
	Promise(t, "L7", "a plugin that was not asked receives nothing about a rejected pod of a shim", OnStock("it receives Stop and Remove"), func(t require.TestingT) {
		assert.Empty(t, third.Calls().Named("rejected").Events(), third.Name())
	})
	second.On(plugin.RunPodSandbox, nil)
	RequirePodRunsAgain(t, n, config)
	RequireNoSandboxLeft(t, n)
}

// The conformance test's case, with sandboxes of shims.
func TestL5_PodOfAShimFailsIfItsSandboxDiesInTheHook(t *testing.T) {
	t.Parallel()
	for dies, of := range map[string]func(*testing.T, int) int{
		"sandbox process": func(_ *testing.T, sandbox int) int { return sandbox },
		"shim":            ParentProcess,
	} {
		t.Run(dies, func(t *testing.T) {
			n := StartSandboxer(t)
			kill := func(pod InHook) error { return KillProcess(of(t, pod.PID)) }
			clean := func(t require.TestingT, _ Runtime) { RequireNoSandboxLeft(t, n) }
			cases.PodFailsIfItsSandboxDiesInTheHook(OnNode{T: t, Needs: Patient}, n, dies, kill, clean)
		})
	}
}

func TestL15_EndOfAPodOfAShimIsDeliveredAfterARestart(t *testing.T) {
	t.Parallel()
	n := StartSandboxer(t)
	back := plugin.New("10", "back")
	Connect(t, n, back)
	pod, err := n.CRI().RunPod(WithinAMinute(t), n.CRI().Pod("survivor"))
	require.NoError(t, err)

	require.NoError(t, n.Kill(WithinAMinute(t)))
	require.NoError(t, n.Boot(WithinAMinute(t)))
	require.Equal(t, runtime.PodSandboxState_SANDBOX_READY, PodState(t, n, pod))
	Connect(t, n, back)
	require.NoError(t, n.CRI().StopPod(WithinAMinute(t), pod))
	require.NoError(t, n.CRI().RemovePod(WithinAMinute(t), pod))

	RequireNoSandboxLeft(t, n)
	Promise(t, "L15", "a plugin that joins after a restart receives the end of a pod of a shim", OnStock("the end is not delivered"), Eventually(func(t require.TestingT) {
		assert.Equal(t, []plugin.Event{plugin.StopPodSandbox, plugin.RemovePodSandbox}, back.Calls().Latest().Of(pod).Events())
	}))
}

// The start command is interrupted before or after it has started the shim. The shim of the sandbox
// is found, and ends with its pod.
func TestL15_ShimOfASandboxThatWasCutInItsStartEnds(t *testing.T) {
	t.Parallel()
	for _, at := range StartsOfShims {
		t.Run(at.String(), func(t *testing.T) {
			n := StartSandboxer(t)
			ctx := WithinAMinute(t)
			config := n.CRI().Pod("cut")
			hold, ran := HoldStartOfShim(ctx, t, n, at, config)
			require.NoError(t, n.Kill(ctx))
			require.Error(t, <-ran)
			require.NoError(t, hold.Release())
			require.NoError(t, n.Quiet(ctx))
			require.NoError(t, n.Boot(ctx))
			Promise(t, "L15", "a pod whose shim was interrupted in its start is not Ready", KeptOnStock, func(t require.TestingT) {
				RequireNoPodReady(ctx, t, n.CRI())
			})
			RemoveAllPods(ctx, t, n.CRI())
			Promise(t, "L15", "nothing is left of the pod once it is removed", LeavesShim, func(t require.TestingT) { RequireNoSandboxLeft(t, n) })
			Promise(t, "L15", "the pod can be created again", KeptOnStock, func(t require.TestingT) { RequirePodRunsAgain(t, n, config) })
		})
	}
}

func TestL7_ShimOfASandboxEndsWhenItsCallerIsGone(t *testing.T) {
	t.Parallel()
	for i, at := range StartsOfShims {
		left := []Breach{KeptOnStock, LeavesShim}[i] // if it is killed before it does anything, it leaves nothing
		t.Run(at.String(), func(t *testing.T) {
			n := StartSandboxer(t)
			ctx := WithinAMinute(t)
			config := n.CRI().Pod("abandoned")
			calling, cancel := context.WithCancel(ctx)
			hold, ran := HoldStartOfShim(calling, t, n, at, config)
			cancel()
			require.Error(t, <-ran)
			RequireNoticed(t, n.CRI())
			Promise(t, "L7", "nothing is left of a pod whose caller canceled while its shim was started", left, func(t require.TestingT) {
				require.NoError(t, hold.Release())
				RequireNoSandboxLeft(t, n)
			})
			Promise(t, "L7", "the pod can be created again", KeptOnStock, func(t require.TestingT) {
				pod, err := RunOnceNameIsFree(ctx, n, config)
				require.NoError(t, err)
				require.NoError(t, n.CRI().StopPod(ctx, pod))
				require.NoError(t, n.CRI().RemovePod(ctx, pod))
			})
		})
	}
}

// A shim cannot report the state of its sandbox when the runtime restarts, and can later. A kubelet
// asks for the status of each pod that it runs, and must not replace this one.
func TestL15_PodOfAShimThatDidNotSayItsStateAtTheStartRunsOn(t *testing.T) {
	t.Parallel()
	n := StartSandboxer(t, WithoutNRI)
	ctx := WithinAMinute(t)
	l := NewLife(t, n, "silent")
	bundles, err := filepath.Glob(filepath.Join(n.Folder(), "*", "*", "*", l.Pod, "options"))
	require.NoError(t, err)
	require.Len(t, bundles, 1)
	silent := filepath.Join(filepath.Dir(bundles[0]), "no-status")
	require.NoError(t, os.WriteFile(silent, nil, 0o600))
	require.NoError(t, n.Kill(ctx))
	require.NoError(t, n.Boot(ctx))
	require.NoError(t, os.Remove(silent))

	state := PodState(t, n, l.Pod)
	Promise(t, "L15", "a pod is Ready once its shim says so", KeptOnStock, func(t require.TestingT) {
		assert.Equal(t, runtime.PodSandboxState_SANDBOX_READY, state)
	})
	l.End(t)
	RequireNoSandboxLeft(t, n)
}
