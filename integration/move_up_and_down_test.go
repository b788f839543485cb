// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/hookline-nri/hookline/testkit/history"
	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// A node moves to another containerd and back. Pods of both run on and take more
// containers wherever they are, and each can be ended by either.
func TestL23_PodsMoveBetweenHooklineAndStock(t *testing.T) {
	t.Parallel()
	for name, there := range map[string]struct{ first, other build }{
		"to stock and back":      {patched, stock},
		"to hookline and back":   {stock, patched},
		"from the core to all":   {core, patched},
		"from all to the core":   {patched, core},
		"from the core to stock": {core, stock},
		"from stock to the core": {stock, core},
	} {
		t.Run(name, func(t *testing.T) {
			eachController(t, func(t *testing.T, byShim bool) { moves(t, there.first, there.other, byShim) })
		})
	}
}

func moves(t *testing.T, first, other build, byShim bool) {
	m := startMover(t, first, byShim)
	ctx := withinAMinute(t)
	stays, ends := newLife(t, m, "stays"), newLife(t, m, "ends")
	since := runningSince(ctx, t, m, stays.Container)

	m.moveTo(t, other)
	promise(t, "L23", "pods run on after the move", keptOnStock, func(t require.TestingT) {
		requireReady(ctx, t, m, stays.Pod, ends.Pod)
		assert.Equal(t, since, runningSince(ctx, t, m, stays.Container))
	})
	runMore(ctx, t, m, stays.Pod, m.CRI().Pod("stays"), "more")
	ends.End(t)
	made := newLife(t, m, "made")

	m.moveTo(t, first)
	promise(t, "L23", "pods run on after the move back", keptOnStock, func(t require.TestingT) {
		requireReady(ctx, t, m, stays.Pod, made.Pod)
		assert.Equal(t, since, runningSince(ctx, t, m, stays.Container))
		runMore(ctx, t, m, made.Pod, m.CRI().Pod("made"), "more")
	})
	made.End(t)
	stays.End(t)
	promise(t, "L23", "nothing is left of pods of either", keptOnStock, func(t require.TestingT) {
		requireNoSandboxLeft(t, m.Node)
		for _, name := range []string{"stays", "ends", "made"} {
			requirePodRunsAgain(t, m, m.CRI().Pod(name))
		}
	})
}

// What libcni keeps of an ADD is the same, whichever made it: without a
// configuration, there is nothing else to take a pod off its network with.
func TestL23_AttachmentsOfStockAreUsed(t *testing.T) {
	t.Parallel()
	m := startMover(t, stock, false)
	ctx := withinAMinute(t)
	l := newLife(t, m, "attached")
	m.moveTo(t, patched)
	_, configurations := m.CNI()
	require.NoError(t, os.Remove(filepath.Join(configurations, "10-hookline.conflist")))
	promise(t, "L23", "a pod that stock attached is detached without its configuration", keptOnStock, func(t require.TestingT) {
		require.NoError(t, m.CRI().StopPod(ctx, l.Pod))
		require.NoError(t, m.CRI().RemovePod(ctx, l.Pod))
		requireNothingLeft(t, m)
	})
}

// Stock runs past a creation that was cut in its hook, and gives the pod containers,
// as any kubelet does with a pod that is ready. It stays ready from then on.
func TestL23_PodThatStockRanPastStaysReady(t *testing.T) {
	t.Parallel()
	eachController(t, func(t *testing.T, byShim bool) {
		m := startMover(t, patched, byShim)
		ctx := withinAMinute(t)
		pod := killInHook(t, m.Node, "cut")
		m.moveTo(t, stock)
		requireReady(ctx, t, m, pod.ID)
		container := runMore(ctx, t, m, pod.ID, pod.Config, "main")
		since := runningSince(ctx, t, m, container)

		m.moveTo(t, patched)
		back := plugin.New("10", "back")
		connect(t, m, back)
		promise(t, "L23", "a pod that was cut in its hook and has got containers since is ready", keptOnStock, func(t require.TestingT) {
			requireReady(ctx, t, m, pod.ID)
			assert.Equal(t, since, runningSince(ctx, t, m, container))
			runMore(ctx, t, m, pod.ID, pod.Config, "more")
		})
		require.NoError(t, m.Kill(ctx))
		require.NoError(t, m.Boot(ctx))
		connect(t, m, back)
		promise(t, "L23", "it is after the next restart, and plugins are told so", keptOnStock, func(t require.TestingT) {
			requireReady(ctx, t, m, pod.ID)
			pods := back.Calls().Connections()[1].Only(plugin.Synchronize)[0].Pods
			require.Len(t, pods, 1)
			assert.Contains(t, string(pods[0].ProtoReflect().GetUnknown()), string(readyState))
		})
		removeAllPods(ctx, t, m.CRI())
		promise(t, "L23", "its end is told, and nothing is left of it", keptOnStock, func(t require.TestingT) {
			reading := history.Read(back.Calls().Connections()[1], nil, back.Calls().Connections()[0])
			assert.Empty(t, reading.Faults())
			assert.Empty(t, reading.Alive())
			requireNoSandboxLeft(t, m.Node)
			requirePodRunsAgain(t, m, pod.Config)
		})
	})
}

// Without a container it has nothing to lose, and no plugin has agreed to it.
func TestL23_PodThatStockGaveNoContainerIsNotReady(t *testing.T) {
	t.Parallel()
	eachController(t, func(t *testing.T, byShim bool) {
		m := startMover(t, patched, byShim)
		ctx := withinAMinute(t)
		pod := killInHook(t, m.Node, "cut")
		m.moveTo(t, stock)
		requireReady(ctx, t, m, pod.ID)
		m.moveTo(t, patched)
		promise(t, "L23", "a pod that was cut in its hook and has no containers is not ready", keptOnStock, func(t require.TestingT) {
			requireNoPodReady(ctx, t, m.CRI())
		})
		removeAllPods(ctx, t, m.CRI())
		requireNoSandboxLeft(t, m.Node)
	})
}

// A stop was told to plugins and then cut. Stock shows the pod as ready, and a
// kubelet that starts anew may want it after all.
func TestL23_StopThatStockRanPastIsForgotten(t *testing.T) {
	t.Parallel()
	m := startMover(t, patched, false)
	ctx := withinAMinute(t)
	config := m.CRI().Pod("stopping")
	pod, err := m.CRI().RunPod(ctx, config)
	require.NoError(t, err)
	hold, err := m.HoldAt(node.Before("runc", "kill"), "stopping")
	require.NoError(t, err)
	stopped := inBackground(func() error { return m.CRI().StopPod(ctx, pod) })
	require.NoError(t, hold.Entered(ctx))
	require.NoError(t, m.Kill(ctx))
	require.Error(t, <-stopped)
	require.NoError(t, hold.Fail())

	m.moveTo(t, stock)
	requireReady(ctx, t, m, pod)
	container := runMore(ctx, t, m, pod, config, "main")
	m.moveTo(t, patched)
	promise(t, "L23", "a pod whose stop was cut and in which a container runs since is ready", keptOnStock, func(t require.TestingT) {
		requireReady(ctx, t, m, pod)
		runningSince(ctx, t, m, container)
	})
	removeAllPods(ctx, t, m.CRI())
	requireNothingLeft(t, m)
}

// Stock forgets the names of sandboxes that it recovers from their record alone, so
// that pods of the same name can be created beside them.
func TestL23_TwoPodsOfOneNameComeUp(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]struct {
		byShim bool
		first  func(ctx context.Context, t *testing.T, m *mover, config *runtime.PodSandboxConfig)
		ready  int
	}{
		"cut in its ADD": {false, func(ctx context.Context, t *testing.T, m *mover, config *runtime.PodSandboxConfig) {
			hold, err := m.HoldADD(config.GetMetadata().GetName())
			require.NoError(t, err)
			ran := inBackground(func() error { _, err := m.CRI().RunPod(ctx, config); return err })
			require.NoError(t, hold.Entered(ctx))
			require.NoError(t, m.Kill(ctx))
			require.Error(t, <-ran)
			require.NoError(t, hold.Release())
			require.NoError(t, m.Quiet(ctx))
		}, 1},
		"of a shim": {true, func(ctx context.Context, t *testing.T, m *mover, config *runtime.PodSandboxConfig) {
			_, err := m.CRI().RunPod(ctx, config)
			require.NoError(t, err)
			require.NoError(t, m.Kill(ctx))
		}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			m := startMover(t, stock, s.byShim)
			ctx := withinAMinute(t)
			config := m.CRI().Pod("twice")
			s.first(ctx, t, m, config)
			require.NoError(t, m.Boot(ctx))
			second, err := m.CRI().RunPod(ctx, config)
			require.NoError(t, err, "stock has forgotten the name")
			container := runMore(ctx, t, m, second, config, "main")

			m.moveTo(t, patched)
			promise(t, "L23", "a node with two pods of one name comes up with both", keptOnStock, func(t require.TestingT) {
				pods, err := m.CRI().Pods(ctx)
				require.NoError(t, err)
				ready := 0
				for _, pod := range pods {
					if pod.GetState() == runtime.PodSandboxState_SANDBOX_READY {
						ready++
					}
				}
				assert.Len(t, pods, 2)
				assert.Equal(t, s.ready, ready)
				runningSince(ctx, t, m, container)
			})
			promise(t, "L22", "the second is named in the log, and counted", keptOnStock, func(t require.TestingT) {
				counted, err := m.Metrics(ctx, passedOver)
				require.NoError(t, err)
				assert.Equal(t, map[string]float64{`{kind="sandbox_name"}`: 1}, counted)
				assert.NoError(t, hasLogged(m.Node, "is not recovered", "is reserved for"))
			})
			removeAllPods(ctx, t, m.CRI())
			promise(t, "L23", "both end, and leave their name free", keptOnStock, func(t require.TestingT) {
				requireNoSandboxLeft(t, m.Node)
				requirePodRunsAgain(t, m, config)
			})
		})
	}
}

// What hookline has set aside of a record keeps stock from nothing, and both know the pod.
func TestL23_WhatWasSetAsideCanBeReadByStock(t *testing.T) {
	t.Parallel()
	for name, path := range map[string]func(l life) []string{
		"the spec of a container":            func(l life) []string { return []string{"containers", l.Container, "spec"} },
		"the spec of the container of a pod": func(l life) []string { return []string{"containers", l.Pod, "spec"} },
		"the spec of a pod":                  func(l life) []string { return []string{"sandboxes", l.Pod, "spec"} },
		"the metadata of the container of a pod": func(l life) []string {
			return []string{"containers", l.Pod, "extensions", "io.cri-containerd.sandbox.metadata"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := startMover(t, patched, false)
			ctx := withinAMinute(t)
			bad := newLife(t, m, "bad")
			require.NoError(t, m.Kill(ctx))
			require.NoError(t, overwrite(m.Node, []byte{0xff}, path(bad)...))
			require.NoError(t, m.Boot(ctx))
			m.moveTo(t, stock)
			requirePodRunsAgain(t, m, m.CRI().Pod("new"))
			m.moveTo(t, patched)
			bad.End(t)
			requireNothingLeft(t, m)
		})
	}
}
