// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/hookline-nri/hookline/testkit/plugin"
)

func TestL1_EventsOfAPodOfAShimComeInOrder(t *testing.T) {
	t.Parallel()
	n := startSandboxer(t)
	p := plugin.New("10", "watches")
	connect(t, n, p)
	l := newLife(t, n, "ordinary")
	require.Equal(t, runtime.PodSandboxState_SANDBOX_READY, stateOf(t, n, l.Pod))
	l.End(t)
	require.Equal(t, whole, p.Calls().Of(l.Pod).Events())
	requireNoSandboxLeft(t, n)
}

func TestL7_RefusedPodOfAShimIsUndone(t *testing.T) {
	t.Parallel()
	n := startSandboxer(t)
	first, second, third := connectTrio(t, n)

	config := runRefused(t, second, n)

	requireUndoneWhileNetworkStood(t, first, config)
	requireUndoneWhileNetworkStood(t, second, config)
	requireNoSandboxLeft(t, n)
	promise(t, "L7", "a plugin that was not asked is not told of a refused pod of a shim", onStock("it gets Stop and Remove"), func(t require.TestingT) {
		assert.Empty(t, third.Calls().Named("refused").Events(), third.Name())
	})
	second.On(plugin.RunPodSandbox, nil)
	requirePodRunsAgain(t, n, config)
	requireNoSandboxLeft(t, n)
}

func TestL5_PodOfAShimFailsIfItsSandboxDiesInTheHook(t *testing.T) {
	t.Parallel()
	for dies, who := range map[string]func(*testing.T, int) int{
		"sandbox process": func(_ *testing.T, sandbox int) int { return sandbox },
		"shim":            parent,
	} {
		t.Run(dies, func(t *testing.T) {
			n := startSandboxer(t)
			slow := plugin.New("10", "slow")
			connect(t, n, slow)
			gate := newGate(t)
			slow.On(plugin.RunPodSandbox, gate.Hold)
			config := n.CRI().Pod("dying")
			ran := inBackground(func() error { _, err := n.CRI().RunPod(withinAMinute(t), config); return err })
			requireClosed(t, gate.Entered(), "the hook")

			sandbox := int(slow.Calls().Only(plugin.RunPodSandbox)[0].Pod.GetPid())
			require.NoError(t, unix.Kill(who(t, sandbox), unix.SIGKILL))

			var err error
			select {
			case err = <-ran:
			case <-withinMoments(t).Done(): // who does not notice by then may once all have agreed
				gate.Release()
				err = <-ran
			}
			gate.Release()
			promise(t, "L5", "a pod of a shim fails when its "+dies+" dies in the hook", onStock("it becomes ready"), func(t require.TestingT) { require.Error(t, err) })
			promise(t, "L3", "its end is told", onStock("it becomes ready"), func(t require.TestingT) {
				requireSoon(t, "RemovePodSandbox", func(context.Context) error { return hasAnswered(slow, plugin.RemovePodSandbox) })
				assert.Equal(t, undone, slow.Calls().Named("dying").Events())
			})
			promise(t, "L7", "nothing is left of it", onStock("it becomes ready"), func(t require.TestingT) { requireNoSandboxLeft(t, n) })
			promise(t, "L7", "it can be created again at once", onStock("it is there"), func(t require.TestingT) {
				requirePodRunsAgain(t, n, config)
				requireNoSandboxLeft(t, n)
			})
		})
	}
}

func TestL15_EndOfAPodOfAShimIsToldAfterARestart(t *testing.T) {
	t.Parallel()
	n := startSandboxer(t)
	back := plugin.New("10", "back")
	connect(t, n, back)
	pod, err := n.CRI().RunPod(withinAMinute(t), n.CRI().Pod("survivor"))
	require.NoError(t, err)

	require.NoError(t, n.Kill(withinAMinute(t)))
	require.NoError(t, n.Boot(withinAMinute(t)))
	require.Equal(t, runtime.PodSandboxState_SANDBOX_READY, stateOf(t, n, pod))
	connect(t, n, back)
	require.NoError(t, n.CRI().StopPod(withinAMinute(t), pod))
	require.NoError(t, n.CRI().RemovePod(withinAMinute(t), pod))

	requireNoSandboxLeft(t, n)
	promise(t, "L15", "who joins after a restart is told of the end of a pod of a shim", onStock("it ends untold"), eventually(func(t require.TestingT) {
		records := back.Calls().Connections()
		assert.Equal(t, []plugin.Event{plugin.StopPodSandbox, plugin.RemovePodSandbox}, records[len(records)-1].Of(pod).Events())
	}))
}

// Whether the start command has started the shim or is about to: the shim of a
// sandbox is found, and ends with its pod.
func TestL15_ShimOfASandboxThatWasCutInItsStartEnds(t *testing.T) {
	t.Parallel()
	for _, at := range startsOfShims {
		t.Run(at.String(), func(t *testing.T) {
			n := startSandboxer(t)
			ctx := withinAMinute(t)
			config := n.CRI().Pod("cut")
			hold, ran := holdStartOfShim(ctx, t, n, at, config)
			require.NoError(t, n.Kill(ctx))
			require.Error(t, <-ran)
			require.NoError(t, hold.Release())
			require.NoError(t, n.Quiet(ctx))
			require.NoError(t, n.Boot(ctx))
			promise(t, "L15", "a pod whose shim was cut in its start is not ready", keptOnStock, func(t require.TestingT) {
				requireNoPodReady(ctx, t, n.CRI())
			})
			removeAllPods(ctx, t, n.CRI())
			promise(t, "L15", "nothing is left of it once it is removed", leavesShim, func(t require.TestingT) { requireNoSandboxLeft(t, n) })
			promise(t, "L15", "it can be created again", keptOnStock, func(t require.TestingT) { requirePodRunsAgain(t, n, config) })
		})
	}
}

func TestL7_ShimOfASandboxEndsWhenItsCallerIsGone(t *testing.T) {
	t.Parallel()
	for i, at := range startsOfShims {
		left := []breach{keptOnStock, leavesShim}[i] // killed before it does anything, it leaves nothing
		t.Run(at.String(), func(t *testing.T) {
			n := startSandboxer(t)
			ctx := withinAMinute(t)
			config := n.CRI().Pod("given up")
			calling, giveUp := context.WithCancel(ctx)
			hold, ran := holdStartOfShim(calling, t, n, at, config)
			giveUp()
			require.Error(t, <-ran)
			requireNoticed(t, n.CRI())
			promise(t, "L7", "nothing is left of a pod whose caller was gone while its shim was started", left, func(t require.TestingT) {
				require.NoError(t, hold.Release())
				requireNoSandboxLeft(t, n)
			})
			promise(t, "L7", "it can be created again", keptOnStock, func(t require.TestingT) {
				pod, err := runOnceNameIsFree(ctx, n, config)
				require.NoError(t, err)
				require.NoError(t, n.CRI().StopPod(ctx, pod))
				require.NoError(t, n.CRI().RemovePod(ctx, pod))
			})
		})
	}
}

// A shim cannot tell the state of its sandbox when the runtime comes back, and can later: a
// kubelet, which asks for the status of each pod that it runs, is not to replace it.
func TestL15_PodOfAShimThatDidNotSayItsStateAtTheStartRunsOn(t *testing.T) {
	t.Parallel()
	n := startSandboxer(t, withoutNRI)
	ctx := withinAMinute(t)
	l := newLife(t, n, "silent")
	bundles, err := filepath.Glob(filepath.Join(n.Folder(), "*", "*", "*", l.Pod, "options"))
	require.NoError(t, err)
	require.Len(t, bundles, 1)
	silent := filepath.Join(filepath.Dir(bundles[0]), "no-status")
	require.NoError(t, os.WriteFile(silent, nil, 0o600))
	require.NoError(t, n.Kill(ctx))
	require.NoError(t, n.Boot(ctx))
	require.NoError(t, os.Remove(silent))

	state := stateOf(t, n, l.Pod)
	promise(t, "L15", "a pod is ready once its shim says so", keptOnStock, func(t require.TestingT) {
		assert.Equal(t, runtime.PodSandboxState_SANDBOX_READY, state)
	})
	l.End(t)
	requireNoSandboxLeft(t, n)
}
