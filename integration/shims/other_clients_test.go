// SPDX-License-Identifier: Apache-2.0

package shims

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	apievents "github.com/containerd/containerd/api/events"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/testkit/node"
)

// Tests of CRI's pods as other clients see them, on hookline and on stock.

// eventsOf counts containerd's events of containers and tasks during do, by topic. Events of a shim
// may follow the call that causes them: so it waits for as many as are wanted, or for the deadline.
func eventsOf(t *testing.T, n *node.Node, wanted int, do func(ctx context.Context)) map[string]int {
	t.Helper()
	const done = "/test/done"
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	stream, errs := n.Containerd().Subscribe(ctx, `topic~="^/(containers|tasks)/"`, `topic=="`+done+`"`)
	do(ctx)
	require.NoError(t, n.Containerd().EventService().Publish(ctx, done, &apievents.NamespaceCreate{Name: "done"}))
	seen := map[string]int{}
	for count, isDone := 0, false; !isDone || count < wanted; {
		select {
		case e := <-stream:
			if e.Topic == done {
				isDone = true
				continue
			}
			count++
			seen[e.Topic]++
		case err := <-errs:
			require.ErrorIs(t, err, context.DeadlineExceeded)
			return seen
		}
	}
	return seen
}

// The addresses of a pod are in the record of its pause container, which is made before them. The
// pause container's shim ends as soon as the container is deleted, and loses no event.
func TestEventsOfAPauseContainerAreSentOnce(t *testing.T) {
	t.Parallel()
	n := StartNode(t)
	c := n.CRI()
	want := map[string]int{
		"/containers/create": 1, "/tasks/create": 1, "/tasks/start": 1,
		"/tasks/exit": 1, "/tasks/delete": 1, "/containers/delete": 1,
	}
	if !RunsOnStock {
		want["/containers/update"] = 1
	}
	seen := eventsOf(t, n, len(want), func(ctx context.Context) {
		id, err := c.RunPod(ctx, c.Pod("web"))
		require.NoError(t, err)
		require.NoError(t, c.StopPod(ctx, id))
		require.NoError(t, c.RemovePod(ctx, id))
	})
	Promise(t, "L15", "no event is lost", SometimesOnStock("the shim ends before it has published an exit or a deletion"), func(t require.TestingT) {
		assert.Equal(t, want, seen)
	})
}

// A pause container was made beside an ADD that fails. The next ADD comes before the pause
// container, and each ADD does if that is set.
func TestPauseContainerOfAPodWhoseADDFailsIsSeen(t *testing.T) {
	t.Parallel()
	settings := map[string][]string{"by default": nil, "as on stock": {"adds_beside_pause = 0"}}
	for name, set := range settings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := StartAgent(t, set...)
			c := a.N.CRI()
			a.Says("ADD", Fails)
			fail := func(ctx context.Context) {
				_, err := c.RunPod(ctx, c.Pod("web"))
				require.ErrorContains(t, err, "failed to setup network")
			}
			first := eventsOf(t, a.N, 0, fail)
			if RunsOnStock || set != nil {
				assert.Empty(t, first)
			} else {
				assert.Equal(t, 1, first["/containers/create"])
				assert.Equal(t, 1, first["/containers/delete"])
				assert.Zero(t, first["/tasks/start"])
			}
			a.RequireNothingLeft(t)
			assert.Empty(t, eventsOf(t, a.N, 0, fail))
		})
	}
}

// The loopback interface is in the CNI result of a pod if a CNI plugin has set it up.
func TestLoopbackIsInTheCNIResultIfAPluginSetIt(t *testing.T) {
	t.Parallel()
	for name, config := range map[string]string{"by default": "", "by the plugin": PluginLoopback} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := StartNode(t, func(o *node.Options) { o.Config = config })
			ctx, c := WithinAMinute(t), n.CRI()
			id, err := c.RunPod(ctx, c.Pod("web"))
			require.NoError(t, err)
			r, err := c.Runtime.PodSandboxStatus(ctx, &runtime.PodSandboxStatusRequest{PodSandboxId: id, Verbose: true})
			require.NoError(t, err)
			var info struct {
				CNIResult struct{ Interfaces map[string]any }
			}
			require.NoError(t, json.Unmarshal([]byte(r.GetInfo()["info"]), &info))
			assert.Contains(t, info.CNIResult.Interfaces, "eth0")
			_, has := info.CNIResult.Interfaces["lo"]
			assert.Equal(t, RunsOnStock || config != "", has)
		})
	}
}
