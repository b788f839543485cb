// SPDX-License-Identifier: Apache-2.0

package versions

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/testkit/history"
	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// A node moves to another containerd and back. Pods of both run on, take more containers under
// either, and can be ended by either.
func TestL23_PodsMoveBetweenHooklineAndStock(t *testing.T) {
	t.Parallel()
	for name, there := range map[string]struct{ first, other build }{
		"to stock and back":                {patched, stock},
		"to hookline and back":             {stock, patched},
		"from the core to the full series": {core, patched},
		"from the full series to the core": {patched, core},
		"from the core to stock":           {core, stock},
		"from stock to the core":           {stock, core},
	} {
		t.Run(name, func(t *testing.T) {
			eachController(t, func(t *testing.T, byShim bool) { moves(t, there.first, there.other, byShim) })
		})
	}
}

func moves(t *testing.T, first, other build, byShim bool) {
	m := startMover(t, first, byShim)
	ctx := WithinAMinute(t)
	stays, ends := NewLife(t, m, "stays"), NewLife(t, m, "ends")
	since := RunningSince(ctx, t, m, stays.Container)

	m.moveTo(t, other)
	Promise(t, "L23", "pods run on after the move", KeptOnStock, func(t require.TestingT) {
		RequireReady(ctx, t, m, stays.Pod, ends.Pod)
		assert.Equal(t, since, RunningSince(ctx, t, m, stays.Container))
	})
	runMore(ctx, t, m, stays.Pod, m.CRI().Pod("stays"), "more")
	ends.End(t)
	made := NewLife(t, m, "made")

	m.moveTo(t, first)
	Promise(t, "L23", "pods run on after the move back", KeptOnStock, func(t require.TestingT) {
		RequireReady(ctx, t, m, stays.Pod, made.Pod)
		assert.Equal(t, since, RunningSince(ctx, t, m, stays.Container))
		runMore(ctx, t, m, made.Pod, m.CRI().Pod("made"), "more")
	})
	made.End(t)
	stays.End(t)
	Promise(t, "L23", "nothing is left of pods of either", KeptOnStock, func(t require.TestingT) {
		RequireNoSandboxLeft(t, m.Node)
		for _, name := range []string{"stays", "ends", "made"} {
			RequirePodRunsAgain(t, m, m.CRI().Pod(name))
		}
	})
}

// The cached attachments of libcni are the same in both: without a configuration, nothing else can
// remove a pod from its network.
func TestL23_AttachmentsOfStockAreUsed(t *testing.T) {
	t.Parallel()
	m := startMover(t, stock, false)
	ctx := WithinAMinute(t)
	l := NewLife(t, m, "attached")
	m.moveTo(t, patched)
	_, configurations := m.CNI()
	require.NoError(t, os.Remove(filepath.Join(configurations, "10-hookline.conflist")))
	Promise(t, "L23", "a pod that stock attached is detached without its configuration", KeptOnStock, func(t require.TestingT) {
		require.NoError(t, m.CRI().StopPod(ctx, l.Pod))
		require.NoError(t, m.CRI().RemovePod(ctx, l.Pod))
		RequireNothingLeft(t, m)
	})
}

// A creation is interrupted in its hook. Stock shows the pod as Ready, and a kubelet starts
// containers in it. From then on it stays Ready.
func TestL23_PodThatStockRanPastStaysReady(t *testing.T) {
	t.Parallel()
	eachController(t, func(t *testing.T, byShim bool) {
		m := startMover(t, patched, byShim)
		ctx := WithinAMinute(t)
		pod := killInHook(t, m.Node, "cut")
		m.moveTo(t, stock)
		RequireReady(ctx, t, m, pod.ID)
		container := runMore(ctx, t, m, pod.ID, pod.Config, "main")
		since := RunningSince(ctx, t, m, container)

		m.moveTo(t, patched)
		back := plugin.New("10", "back")
		Connect(t, m, back)
		Promise(t, "L23", "a pod that was interrupted in its hook and has containers since is Ready", KeptOnStock, func(t require.TestingT) {
			RequireReady(ctx, t, m, pod.ID)
			assert.Equal(t, since, RunningSince(ctx, t, m, container))
			runMore(ctx, t, m, pod.ID, pod.Config, "more")
		})
		require.NoError(t, m.Kill(ctx))
		require.NoError(t, m.Boot(ctx))
		Connect(t, m, back)
		Promise(t, "L23", "it is Ready after the next restart, and plugins receive that", KeptOnStock, func(t require.TestingT) {
			RequireReady(ctx, t, m, pod.ID)
			pods := back.Calls().Connections()[1].Only(plugin.Synchronize)[0].Pods
			require.Len(t, pods, 1)
			assert.Contains(t, string(pods[0].ProtoReflect().GetUnknown()), string(ReadyState))
		})
		RemoveAllPods(ctx, t, m.CRI())
		Promise(t, "L23", "plugins receive its end, and nothing is left of it", KeptOnStock, func(t require.TestingT) {
			reading := history.Read(back.Calls().Connections()[1], nil, back.Calls().Connections()[0])
			assert.Empty(t, reading.Faults())
			assert.Empty(t, reading.Alive())
			RequireNoSandboxLeft(t, m.Node)
			RequirePodRunsAgain(t, m, pod.Config)
		})
	})
}

// Without a container such a pod has nothing to lose, and no plugin has approved it.
func TestL23_PodThatStockGaveNoContainerIsNotReady(t *testing.T) {
	t.Parallel()
	eachController(t, func(t *testing.T, byShim bool) {
		m := startMover(t, patched, byShim)
		ctx := WithinAMinute(t)
		pod := killInHook(t, m.Node, "cut")
		m.moveTo(t, stock)
		RequireReady(ctx, t, m, pod.ID)
		m.moveTo(t, patched)
		Promise(t, "L23", "a pod that was interrupted in its hook and has no containers is not Ready", KeptOnStock, func(t require.TestingT) {
			RequireNoPodReady(ctx, t, m.CRI())
		})
		RemoveAllPods(ctx, t, m.CRI())
		RequireNoSandboxLeft(t, m.Node)
	})
}

// A stop is interrupted after plugins have received it. Stock shows the pod as Ready, and a kubelet
// that restarts may use it again.
func TestL23_StopThatStockRanPastIsForgotten(t *testing.T) {
	t.Parallel()
	m := startMover(t, patched, false)
	ctx := WithinAMinute(t)
	config := m.CRI().Pod("stopping")
	pod, err := m.CRI().RunPod(ctx, config)
	require.NoError(t, err)
	hold, err := m.HoldAt(node.Before("runc", "kill"), "stopping")
	require.NoError(t, err)
	stopped := InBackground(func() error { return m.CRI().StopPod(ctx, pod) })
	require.NoError(t, hold.Entered(ctx))
	require.NoError(t, m.Kill(ctx))
	require.Error(t, <-stopped)
	require.NoError(t, hold.Fail())

	m.moveTo(t, stock)
	RequireReady(ctx, t, m, pod)
	container := runMore(ctx, t, m, pod, config, "main")
	m.moveTo(t, patched)
	Promise(t, "L23", "a pod whose stop was interrupted and in which a container runs since is Ready", KeptOnStock, func(t require.TestingT) {
		RequireReady(ctx, t, m, pod)
		RunningSince(ctx, t, m, container)
	})
	RemoveAllPods(ctx, t, m.CRI())
	RequireNothingLeft(t, m)
}

// Stock forgets the names of sandboxes that it recovers from their record alone, so that pods of
// the same name can be created beside them.
func TestL23_TwoPodsOfOneNameStart(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]struct {
		byShim bool
		first  func(ctx context.Context, t *testing.T, m *mover, config *runtime.PodSandboxConfig)
		ready  int
	}{
		"interrupted in its ADD": {false, func(ctx context.Context, t *testing.T, m *mover, config *runtime.PodSandboxConfig) {
			hold, ran := HoldCreation(ctx, t, m.Node, node.Before("ptp", "ADD"), config)
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
			ctx := WithinAMinute(t)
			config := m.CRI().Pod("twice")
			s.first(ctx, t, m, config)
			require.NoError(t, m.Boot(ctx))
			second, err := m.CRI().RunPod(ctx, config)
			require.NoError(t, err, "stock has forgotten the name")
			container := runMore(ctx, t, m, second, config, "main")

			m.moveTo(t, patched)
			Promise(t, "L23", "a node with two pods of one name starts with both", KeptOnStock, func(t require.TestingT) {
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
				RunningSince(ctx, t, m, container)
			})
			Promise(t, "L22", "the second pod is named in the log, and counted", KeptOnStock, func(t require.TestingT) {
				counted, err := m.Metrics(ctx, SkippedMetric)
				require.NoError(t, err)
				assert.Equal(t, map[string]float64{`{kind="sandbox_name"}`: 1}, counted)
				assert.NoError(t, HasLogged(m.Node, "is not recovered", "is reserved for"))
			})
			RemoveAllPods(ctx, t, m.CRI())
			Promise(t, "L23", "both end, and leave their name free", KeptOnStock, func(t require.TestingT) {
				RequireNoSandboxLeft(t, m.Node)
				RequirePodRunsAgain(t, m, config)
			})
		})
	}
}

// Hookline sets a part of a record aside. Stock works with the rest, and both know the pod.
func TestL23_StockReadsRecordsThatHooklineSetAside(t *testing.T) {
	t.Parallel()
	for name, path := range map[string]func(l Life) []string{
		"the spec of a container":            func(l Life) []string { return []string{"containers", l.Container, "spec"} },
		"the spec of the container of a pod": func(l Life) []string { return []string{"containers", l.Pod, "spec"} },
		"the spec of a pod":                  func(l Life) []string { return []string{"sandboxes", l.Pod, "spec"} },
		"the metadata of the container of a pod": func(l Life) []string {
			return []string{"containers", l.Pod, "extensions", "io.cri-containerd.sandbox.metadata"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := startMover(t, patched, false)
			ctx := WithinAMinute(t)
			bad := NewLife(t, m, "bad")
			require.NoError(t, m.Kill(ctx))
			require.NoError(t, Overwrite(m.Node, []byte{0xff}, path(bad)...))
			require.NoError(t, m.Boot(ctx))
			m.moveTo(t, stock)
			RequirePodRunsAgain(t, m, m.CRI().Pod("new"))
			m.moveTo(t, patched)
			bad.End(t)
			RequireNothingLeft(t, m)
		})
	}
}
