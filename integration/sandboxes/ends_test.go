// SPDX-License-Identifier: Apache-2.0

package sandboxes

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/hookline-nri/hookline/conformance/cases"
	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// The shim of a sandbox without a process takes the place of its process.
func TestL5_PodFailsIfItsShimDiesInTheHook(t *testing.T) {
	t.Parallel()
	n := startWithoutPause(t)
	kill := func(pod InHook) error {
		shim, err := n.Shim(pod.ID)
		if err != nil {
			return err
		}
		return KillProcess(shim)
	}
	clean := func(t require.TestingT, _ Runtime) { RequireNoSandboxLeft(t, n) }
	cases.PodFailsIfItsSandboxDiesInTheHook(OnNode{T: t, Needs: Patient}, n, "shim", kill, clean)
}

// A pod whose shim has died is not Ready, and its end leaves nothing, whichever containerd sees it.
func TestL15_PodWhoseShimDiedEnds(t *testing.T) {
	t.Parallel()
	for name, restart := range map[string]bool{"while containerd runs": false, "while containerd is down": true} {
		t.Run(name, func(t *testing.T) {
			n := startWithoutPause(t)
			p := plugin.New("10", "watches")
			Connect(t, n, p)
			l := NewLife(t, n, "lost")
			shim, err := n.Shim(l.Pod)
			require.NoError(t, err)
			if restart {
				require.NoError(t, n.Kill(WithinAMinute(t)))
			}
			require.NoError(t, KillProcess(shim))
			if restart {
				require.NoError(t, n.Boot(WithinAMinute(t)))
				p = plugin.New("10", "watches")
				Connect(t, n, p)
			}
			RequirePodNotReady(WithinAMinute(t), t, n, l.Pod)
			RequireSoon(t, "the end of its container", func(ctx context.Context) error {
				if state := StateOfContainer(ctx, t, l); state != runtime.ContainerState_CONTAINER_EXITED {
					return errors.New(state.String())
				}
				return nil
			})
			RemoveAllPods(WithinAMinute(t), t, n.CRI())
			RequireNoSandboxLeft(t, n)
			require.ElementsMatch(t, EveryEnd, p.Calls().Of(l.Pod).Only(EveryEnd...).Events())
			RequirePodRunsAgain(t, n, n.CRI().Pod("lost"))
			RequireNoSandboxLeft(t, n)
		})
	}
}

// Plugins receive the pid 0 and the same paths whenever they receive the pod, and the namespaces
// exist until they have answered its stop.
func TestL25_PathsOfAPodAreTheSameInItsWholeLife(t *testing.T) {
	t.Parallel()
	n := startWithoutPause(t)
	first := plugin.New("10", "first")
	Connect(t, n, first)
	l := NewLife(t, n, "stopped")
	named := paths(first.Calls().Of(l.Pod).Only(plugin.RunPodSandbox)[0].Pod)
	require.Len(t, named, 3)
	first.Crash()

	require.NoError(t, n.Kill(WithinAMinute(t)))
	require.NoError(t, n.Boot(WithinAMinute(t)))
	after := plugin.New("20", "after")
	after.On(plugin.StopPodSandbox, namespacesExist(n))
	Connect(t, n, after)
	l.End(t)
	for _, call := range after.Calls() {
		for _, pod := range append(call.Pods, call.Pod) {
			if pod.GetId() != l.Pod {
				continue
			}
			require.Zero(t, pod.GetPid(), call.Event)
			if call.Event != plugin.RemovePodSandbox { // its network is gone by then
				require.Equal(t, named, paths(pod), call.Event)
			}
		}
	}
	stop := after.Calls().Of(l.Pod).Only(plugin.StopPodSandbox)
	require.Len(t, stop, 1)
	require.NoError(t, stop[0].Err)
	RequireNoSandboxLeft(t, n)
}

// A released containerd stops and removes such pods, also those whose shim has died. It starts no
// container in them, and makes no new ones.
func TestL23_StockEndsPodsWithoutProcess(t *testing.T) {
	t.Parallel()
	n := startWithoutPause(t)
	p := plugin.New("10", "watches")
	Connect(t, n, p)
	runs, lost := NewLife(t, n, "runs"), NewLife(t, n, "lost")
	require.NoError(t, n.Kill(WithinAMinute(t)))
	shim, err := n.Shim(lost.Pod)
	require.NoError(t, err)
	require.NoError(t, KillProcess(shim))
	require.NoError(t, n.Move(filepath.Join(Built, "stock", "bin")))
	require.NoError(t, n.Boot(WithinAMinute(t)))

	require.Equal(t, runtime.PodSandboxState_SANDBOX_READY, PodState(t, n, runs.Pod))
	ctx := WithinAMinute(t)
	more, err := n.CRI().Create(ctx, runs.Pod, n.CRI().Pod("runs"), n.CRI().Container("more"))
	if err == nil {
		err = n.CRI().Start(ctx, more)
	}
	require.Error(t, err, "a container that stock starts in such a pod")
	_, err = n.CRI().RunPod(ctx, n.CRI().Pod("new"))
	require.Error(t, err, "a pod that stock makes with the handler")
	RemoveAllPods(ctx, t, n.CRI())
	RequireNoSandboxLeft(t, n)
}

// The kubelet's requests do not wait for a shim, as they do not with a pause container. Those that
// need it fail in time.
func TestL22_HungShimOfAPodDelaysNoRequest(t *testing.T) {
	t.Parallel()
	n := startWithoutPause(t)
	NewLife(t, n, "answers") // it has a container, so the cgroup that all pods of this node share exists, as with a kubelet
	config := n.CRI().Pod("hangs")
	pod, err := n.CRI().RunPod(WithinAMinute(t), config)
	require.NoError(t, err)
	thaw := FreezeShim(t, n, pod)
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second) // the shim is frozen until the test thaws it
	defer cancel()
	for _, verbose := range []bool{false, true} {
		r, err := n.CRI().Runtime.PodSandboxStatus(ctx, &runtime.PodSandboxStatusRequest{PodSandboxId: pod, Verbose: verbose})
		require.NoError(t, err)
		require.Equal(t, runtime.PodSandboxState_SANDBOX_READY, r.GetStatus().GetState())
		require.Equal(t, verbose, strings.Contains(r.GetInfo()["info"], "10.88.0."), "its addresses")
	}
	stats, err := n.CRI().Runtime.ListPodSandboxStats(ctx, &runtime.ListPodSandboxStatsRequest{})
	require.NoError(t, err)
	require.Len(t, stats.GetStats(), 2)
	_, err = n.CRI().Create(ctx, pod, config, n.CRI().Container("main"))
	require.NoError(t, err)
	_, err = n.CRI().Runtime.UpdatePodSandboxResources(ctx, &runtime.UpdatePodSandboxResourcesRequest{PodSandboxId: pod})
	require.NoError(t, err)
	require.Error(t, n.CRI().StopPod(ctx, pod))
	require.NoError(t, ctx.Err(), "the stop took too long")
	thaw()
	RemoveAllPods(WithinAMinute(t), t, n.CRI())
	RequireNoSandboxLeft(t, n)
}

// A delete command that fails leaves nothing for ever: the next start of containerd removes it.
func TestL15_MountsOfALostShimAreRemovedWithoutItsProgram(t *testing.T) {
	t.Parallel()
	n := startWithoutPause(t)
	pod, err := n.CRI().RunPod(WithinAMinute(t), n.CRI().Pod("lost"))
	require.NoError(t, err)
	shim, err := n.Shim(pod)
	require.NoError(t, err)
	require.NoError(t, n.Kill(WithinAMinute(t)))
	require.NoError(t, KillProcess(shim))
	StandIn(t, n, "bin/containerd-shim-sandboxed-runc-v2", "#!/bin/sh\nexit 1\n")
	require.NoError(t, n.Boot(WithinAMinute(t)))
	RemoveAllPods(WithinAMinute(t), t, n.CRI())
	RequireNothingLeftButSockets(t, n)
}

// The first start command of the shim's program dies, or the shim that it has started does.
const (
	startKilledText = `#!/bin/sh
case " $* " in *" start "*) ! mkdir '@KILLED@' 2>/dev/null || kill -KILL $$ ;; esac
exec '@PROGRAM@' "$@"
`
	shimKilledText = `#!/bin/sh
'@PROGRAM@' "$@" || exit
case " $* " in *" start "*) mkdir '@KILLED@' 2>/dev/null || exit 0 ;; *) exit 0 ;; esac
while [ "$1" != -id ]; do shift; done
for shim in /proc/[0-9]*; do
	[ "$(readlink "$shim/exe")" = '@PROGRAM@' ] && grep -q "$2" "$shim/cmdline" && kill -KILL "${shim#/proc/}"
done
exit 0
`
)

// A shim that dies before its sandbox exists leaves nothing either.
func TestL7_ShimThatDiesInItsStartLeavesNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text    string
		nothing func(require.TestingT, *node.Node)
	}{
		"before it is started": {startKilledText, RequireNoSandboxLeft},
		"when it is started": {shimKilledText, func(t require.TestingT, n *node.Node) {
			RequireNothingLeftButSockets(t, n)
			RequireNoBundleLeft(t, n)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := startWithoutPause(t)
			StandIn(t, n, "bin/containerd-shim-sandboxed-runc-v2", c.text, "@KILLED@", filepath.Join(t.TempDir(), "killed"))
			_, err := n.CRI().RunPod(WithinAMinute(t), n.CRI().Pod("early"))
			require.Error(t, err)
			c.nothing(t, n)
			RequirePodRunsAgain(t, n, n.CRI().Pod("early"))
			c.nothing(t, n)
		})
	}
}

// The life of such a pod starts two processes besides CNI's: the shim, by its start command. ttrpc may
// lose the answer to a shim's shutdown with the connection; only then the delete command runs, too.
func TestLifeOfAPodWithoutPauseStartsTheProcessesThatItNeeds(t *testing.T) {
	t.Parallel()
	n := startWithoutPause(t)
	calls := CountCalls(t, n, "bin/runc", "bin/containerd-shim-sandboxed-runc-v2")
	const lives = 5
	for range lives {
		pod, err := n.CRI().RunPod(WithinAMinute(t), n.CRI().Pod("counted"))
		require.NoError(t, err)
		require.NoError(t, n.CRI().StopPod(WithinAMinute(t), pod))
		require.NoError(t, n.CRI().RemovePod(WithinAMinute(t), pod))
	}
	require.Equal(t, lives, calls.Of(t, "containerd-shim-sandboxed-runc-v2", "start"))
	require.Less(t, calls.Of(t, "containerd-shim-sandboxed-runc-v2", "delete"), lives)
	require.Zero(t, calls.Of(t, "runc"))
	RequireNoSandboxLeft(t, n)
}
