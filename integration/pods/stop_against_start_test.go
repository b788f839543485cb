// SPDX-License-Identifier: Apache-2.0

package pods

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
	"google.golang.org/grpc/codes"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/wait"
)

// The stop of a pod hangs at one container while another is started.
func TestL11_ContainerIsNotStartedWhileAnotherIsStopped(t *testing.T) {
	t.Parallel()
	n := StartNode(t, WithoutNRI)
	ctx, c := WithinAMinute(t), n.CRI()
	config := c.Pod("two")
	l := NewLifeOf(t, n, config)
	second, err := c.Create(ctx, l.Pod, config, c.Container("second"))
	require.NoError(t, err)
	kill, err := n.HoldAt(node.Before("runc", "kill"), "two")
	require.NoError(t, err)
	stopped := InBackground(func() error { return c.StopPod(ctx, l.Pod) })
	require.NoError(t, kill.Entered(ctx))

	errStart := c.Start(ctx, second)
	require.NoError(t, kill.Release())
	require.NoError(t, <-stopped)
	Promise(t, "L11", "a container is not started once the stop of its pod has begun", OnStock("it is started, and the stop may miss it"), func(t require.TestingT) {
		RequireReadable(t, errStart, codes.FailedPrecondition, "is being stopped")
	})
	require.NoError(t, c.RemovePod(ctx, l.Pod))
	RequireNothingLeft(t, n)
}

// A container is being started when the stop begins: the stop waits for the start, or the start is
// undone. Either way nothing runs in the pod when the stop returns.
func TestL10_StopOfAPodWaitsForAContainerThatIsStarted(t *testing.T) {
	t.Parallel()
	n := StartNode(t, WithoutNRI)
	ctx, c := WithinAMinute(t), n.CRI()
	l := NewCreated(t, n, "late")
	start, err := n.HoldAt(node.After("runc", "start"), "late")
	require.NoError(t, err)
	started := InBackground(func() error { return c.Start(ctx, l.Container) })
	require.NoError(t, start.Entered(ctx))

	stopped := InBackground(func() error { return c.StopPod(ctx, l.Pod) })
	if RunsOnStock {
		require.NoError(t, <-stopped)
		stopped = InBackground(func() error { return nil })
	} else {
		RequireSoon(t, "the stop to begin", func(context.Context) error {
			if id, err := c.Create(ctx, l.Pod, c.Pod("late"), c.Container("later")); err == nil {
				return fmt.Errorf("a container is created: %w", c.Remove(ctx, id))
			}
			return nil
		})
		require.True(t, IsOpen(stopped), "the stop did not wait")
	}
	require.NoError(t, start.Release())
	errStart := <-started
	require.NoError(t, <-stopped)
	Promise(t, "L10", "the start of a container fails if its pod is stopped meanwhile", OnStock("it runs in a stopped pod"), func(t require.TestingT) {
		RequireReadable(t, errStart, codes.FailedPrecondition, "is being stopped")
		assert.Equal(t, runtime.ContainerState_CONTAINER_EXITED, StateOfContainer(ctx, t, l))
	})
	require.NoError(t, c.RemovePod(ctx, l.Pod))
	Promise(t, "L10", "nothing is left of the pod", SometimesOnStock("the sockets of its shim are left"), func(t require.TestingT) { RequireNothingLeft(t, n) })
}

// A start that hangs delays the stop of its pod for ten seconds at most, and is undone when it goes
// on.
func TestL11_StartThatHangsDoesNotKeepItsPod(t *testing.T) {
	t.Parallel()
	n := StartNode(t, WithoutNRI)
	ctx, c := WithinAMinute(t), n.CRI()
	l := NewCreated(t, n, "hanging")
	start, err := n.HoldAt(node.Before("runc", "start"), "hanging")
	require.NoError(t, err)
	started := InBackground(func() error { return c.Start(ctx, l.Container) })
	require.NoError(t, start.Entered(ctx))

	errStop := c.StopPod(ctx, l.Pod)
	require.NoError(t, start.Release())
	errStart := <-started
	Promise(t, "L8", "a pod can be stopped although a container is being started", KeptOnStock, func(t require.TestingT) { require.NoError(t, errStop) })
	Promise(t, "L11", "no container runs in it", OnStock("it runs in a stopped pod"), func(t require.TestingT) {
		RequireReadable(t, errStart, codes.FailedPrecondition, "is being stopped")
		assert.Equal(t, runtime.ContainerState_CONTAINER_EXITED, StateOfContainer(ctx, t, l))
	})
	require.NoError(t, c.RemovePod(ctx, l.Pod))
	RequireNothingLeftButSockets(t, n)
}

// A container would be stored after the stop of its pod has listed the containers: reading its
// profile is slow.
func TestL11_ContainerIsNotStoredInAStoppedPod(t *testing.T) {
	t.Parallel()
	n := StartNode(t, WithoutNRI)
	ctx, c := WithinAMinute(t), n.CRI()
	config := c.Pod("stopped")
	pod, err := c.RunPod(ctx, config)
	require.NoError(t, err)
	profile := filepath.Join(n.Folder(), "profile")
	require.NoError(t, unix.Mkfifo(profile, 0o600))
	container := c.Container("late")
	container.Linux.SecurityContext.Seccomp = &runtime.SecurityProfile{
		ProfileType: runtime.SecurityProfile_Localhost, LocalhostRef: profile,
	}
	made := InBackground(func() error { _, err := c.Create(ctx, pod, config, container); return err })
	var pipe *os.File
	require.NoError(t, wait.Until(ctx, "the profile to be read", func(context.Context) (err error) {
		pipe, err = os.OpenFile(profile, os.O_WRONLY|unix.O_NONBLOCK, 0)
		return err
	}))

	require.NoError(t, c.StopPod(ctx, pod))
	_, err = fmt.Fprint(pipe, `{"defaultAction": "SCMP_ACT_ALLOW"}`)
	require.NoError(t, err)
	require.NoError(t, pipe.Close())
	errMade := <-made
	Promise(t, "L11", "a container is not stored once the stop of its pod has begun", OnStock("it is stored"), func(t require.TestingT) {
		RequireReadable(t, errMade, codes.FailedPrecondition, "is being stopped")
		left := KindsLeft(t, n)
		assert.NotContains(t, left, "CRI container")
		assert.NotContains(t, left, "container folder")
	})
	require.NoError(t, c.RemovePod(ctx, pod))
	RequireNothingLeft(t, n)
}
