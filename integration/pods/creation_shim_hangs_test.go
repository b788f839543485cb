// SPDX-License-Identifier: Apache-2.0

package pods

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/plugin"
	"github.com/hookline-nri/hookline/testkit/wait"
)

// A step of a roll-back has five seconds here, and a shim has more time than that to answer.
const shortUndo = `version = 4

[timeouts]
"io.containerd.timeout.cri.defercleanup" = "5s"
"io.containerd.timeout.task.state" = "30s"
`

// stuckInUndo is a rejected pod whose shim does not answer.
type stuckInUndo struct {
	InHook
	n       *node.Node
	plugins []*plugin.Plugin
	thaw    func()
}

func newStuckInUndo(t *testing.T) stuckInUndo {
	t.Helper()
	n := StartNode(t, WithNeeds(Patient), func(o *node.Options) { o.Config = shortUndo })
	first, second := plugin.New("10", "first"), plugin.New("20", "second")
	Connect(t, n, first, second)
	second.On(plugin.RunPodSandbox, RejectsWith(assert.AnError))
	pod := NewInHook(t, n, first, "stuck")
	thaw := FreezeShim(t, n, pod.ID)
	pod.Gate.Release()
	return stuckInUndo{pod, n, []*plugin.Plugin{first, second}, thaw}
}

// requireFailed waits until a roll-back has failed in a step.
func (s stuckInUndo) requireFailed(t *testing.T, step string) {
	t.Helper()
	require.NoError(t, wait.Until(WithinAMinute(t), "the roll-back to "+step, func(context.Context) error {
		return HasLogged(s.n, "failed to "+step+" while rolling back", s.ID)
	}))
}

// The stop of the sandbox times out. Its shutdown has a timeout of its own, within which the shim
// answers.
func TestL7_ShimThatHangsInOneStepOfARollBackKeepsNothing(t *testing.T) {
	t.Parallel()
	s := newStuckInUndo(t)
	errRan := make(chan error, 1)
	if RunsOnStock {
		errRan <- <-s.Ran // stock has one step
	} else {
		s.requireFailed(t, "stop sandbox")
	}
	s.thaw()
	if !RunsOnStock {
		errRan <- <-s.Ran
	}
	require.ErrorContains(t, <-errRan, assert.AnError.Error())
	Promise(t, "L7", "nothing is left of a pod whose shim hung in one step of the roll-back", OnStock("all of it stays"), func(t require.TestingT) {
		RequireNothingLeft(t, s.n)
	})
	Promise(t, "L7", "plugins receive its end", KeptOnStock, func(t require.TestingT) {
		assert.Equal(t, Undone, s.plugins[0].Calls().Named("stuck").Events())
	})
	for _, p := range s.plugins {
		p.On(plugin.RunPodSandbox, nil)
	}
	Promise(t, "L7", "it can be created again at once", OnStock("its name is taken"), func(t require.TestingT) {
		RequirePodRunsAgain(t, s.n, s.Config)
	})
}

// A pod whose shim never answers is shown, and can be removed once the shim has ended.
func TestL7_PodOfAHangingShimIsShown(t *testing.T) {
	t.Parallel()
	s := newStuckInUndo(t)
	require.ErrorContains(t, <-s.Ran, assert.AnError.Error())
	ctx, c := WithinAMinute(t), s.n.CRI()
	state := PodState(t, s.n, s.ID)
	Promise(t, "L7", "a pod that could not be rolled back is not Ready", OnStock("it is shown as Ready"), func(t require.TestingT) {
		assert.Equal(t, runtime.PodSandboxState_SANDBOX_NOTREADY, state)
	})
	require.Subset(t, KindsLeft(t, s.n), []string{"CRI pod", "address", "network namespace", "sandbox record"})
	shim, err := s.n.Shim(s.ID)
	require.NoError(t, err)
	require.NoError(t, unix.Kill(shim, unix.SIGKILL))
	RequireSoon(t, "the removal, with retries like a kubelet's", func(context.Context) error {
		return errors.Join(c.StopPod(ctx, s.ID), c.RemovePod(ctx, s.ID))
	})
	RequireNothingLeftButSockets(t, s.n)
}
