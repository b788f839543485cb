// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/containerd/nri/pkg/api"
	"github.com/hookline-nri/hookline/integration/node"
	"github.com/hookline-nri/hookline/integration/plugin"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// refusesWith refuses with an error of the plugin's own choice.
func refusesWith(err error) plugin.Reply {
	return func(context.Context, *plugin.Call) error { return err }
}

// requireReadable checks what a kubelet reads of an error: its code, and who said what.
func requireReadable(t require.TestingT, err error, code codes.Code, words ...string) {
	require.Error(t, err)
	s, ok := status.FromError(err)
	require.True(t, ok, "%v has no status", err)
	assert.Equal(t, code, s.Code(), "code of %v", err)
	for _, word := range words {
		assert.Contains(t, s.Message(), word)
	}
	assert.Equal(t, 1, strings.Count(err.Error(), "rpc error"), "one code in %v", err)
}

func TestL17_RefusalOfAPodIsReadable(t *testing.T) {
	for _, refusal := range []struct {
		name string
		err  error
		code codes.Code
		text string
	}{
		{"without a code", errors.New("no room for it"), codes.FailedPrecondition, "no room for it"},
		{"with a code", status.Error(codes.ResourceExhausted, "out of addresses"), codes.ResourceExhausted, "out of addresses"},
	} {
		t.Run(refusal.name, func(t *testing.T) {
			n := startNode(t)
			agrees, refuses := plugin.New("10", "agrees"), plugin.New("20", "refuses")
			refuses.On(plugin.RunPodSandbox, refusesWith(refusal.err))
			connect(t, n, agrees, refuses)

			_, err := n.CRI().RunPod(withinAMinute(t), n.CRI().Pod("refused"))

			require.ErrorContains(t, err, refusal.text)
			stockBreaks(t, "L17", "the error of a pod that was refused "+refusal.name+" does not name pod and plugin", func(t require.TestingT) {
				requireReadable(t, err, refusal.code, "pod default/refused: plugin 20-refuses refused RunPodSandbox: "+refusal.text)
			})
		})
	}
}

func TestL17_RefusalOfAContainerIsReadable(t *testing.T) {
	n := startNode(t)
	refuses := plugin.New("10", "refuses")
	connect(t, n, refuses)
	l := newLife(t, n, "kept")
	ctx, c := withinAMinute(t), n.CRI()
	for _, request := range []struct {
		event plugin.Event
		send  func() error
		of    string
	}{
		{plugin.CreateContainer, func() error {
			_, err := c.Create(ctx, l.pod, c.Pod("kept"), c.Container("second"))
			return err
		}, "container second of pod default/kept"},
		{plugin.UpdateContainer, func() error {
			_, err := c.Runtime.UpdateContainerResources(ctx, &runtime.UpdateContainerResourcesRequest{
				ContainerId: l.container,
				Linux:       &runtime.LinuxContainerResources{CpuShares: 512},
			})
			return err
		}, "container main of pod default/kept"},
		{plugin.UpdatePodSandbox, func() error {
			_, err := c.Runtime.UpdatePodSandboxResources(ctx, &runtime.UpdatePodSandboxResourcesRequest{
				PodSandboxId: l.pod,
				Resources:    &runtime.LinuxContainerResources{CpuShares: 512},
			})
			return err
		}, "pod default/kept"},
	} {
		t.Run(string(request.event), func(t *testing.T) {
			refuses.On(request.event, plugin.Fail("not here"))
			err := request.send()
			require.ErrorContains(t, err, "not here")
			stockBreaks(t, "L17", "the error of a refused "+string(request.event)+" does not name its plugin and has no code", func(t require.TestingT) {
				requireReadable(t, err, codes.FailedPrecondition, fmt.Sprintf("%s: plugin 10-refuses refused %s: not here", request.of, request.event))
			})
		})
	}
	l.end(t)
}

func TestL16_TimeoutOfARequiredPluginIsReadable(t *testing.T) {
	n := startNode(t, func(o *node.Options) { o.RequestTimeout = 300 * time.Millisecond })
	hangs, gate := plugin.New("10", "hangs"), plugin.NewGate()
	defer gate.Release()
	hangs.FailurePolicy(&api.FailurePolicy{FailRequest: true})
	hangs.On(plugin.RunPodSandbox, gate.Hold)
	connect(t, n, hangs)

	_, err := n.CRI().RunPod(withinAMinute(t), n.CRI().Pod("late"))

	stockBreaks(t, "L16", "a pod whose required plugin does not answer is run without it", func(t require.TestingT) {
		requireReadable(t, err, codes.DeadlineExceeded, "pod default/late: plugin 10-hangs failed to handle RunPodSandbox request: no answer within 300ms")
	})
}

// A caller whose time is over makes up its own error. What the runtime had to
// say is in its log, with the code of what it saw first: the end of the time, or
// of the call.
func TestL17_EndOfTheCallersTimeIsReadable(t *testing.T) {
	for _, caller := range []struct {
		does   string
		code   codes.Code
		logged string
		giveUp func(ctx context.Context, cancel context.CancelFunc)
	}{
		{"runs out of time", codes.DeadlineExceeded, "rpc error: code = ", func(ctx context.Context, _ context.CancelFunc) { <-ctx.Done() }},
		{"cancels", codes.Canceled, "rpc error: code = Canceled", func(_ context.Context, cancel context.CancelFunc) { cancel() }},
	} {
		t.Run(caller.does, func(t *testing.T) {
			n := startNode(t, func(o *node.Options) { o.RequestTimeout = 20 * time.Second })
			holds, gate := plugin.New("10", "holds"), plugin.NewGate()
			defer gate.Release()
			holds.On(plugin.RunPodSandbox, gate.Hold)
			connect(t, n, holds)

			ctx, cancel := context.WithTimeout(withinAMinute(t), 3*time.Second)
			defer cancel()
			ran := make(chan error, 1)
			go func() {
				_, err := n.CRI().RunPod(ctx, n.CRI().Pod("abandoned"))
				ran <- err
			}()
			requireClosed(t, gate.Entered(), "the hook")
			caller.giveUp(ctx, cancel)
			err := <-ran

			requireReadable(t, err, caller.code)
			stockBreaks(t, "L17", "what a caller who "+caller.does+" was waiting for is not in the log", func(t require.TestingT) {
				requireSoon(t, "the error in the log", func(context.Context) error {
					return hasLogged(n, "RunPodSandbox for", caller.logged, "pod default/abandoned", "asking plugin 10-holds")
				})
			})
		})
	}
}

// hasLogged tells whether one line of the runtime's log has all the words.
func hasLogged(n *node.Node, words ...string) error {
	log, err := n.Log()
	if err != nil {
		return err
	}
next:
	for line := range strings.Lines(log) {
		for _, word := range words {
			if !strings.Contains(line, word) {
				continue next
			}
		}
		return nil
	}
	return fmt.Errorf("no line with %q", words)
}
