// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/containerd/nri/pkg/api"
	runtimespec "github.com/opencontainers/runtime-spec/specs-go"
	"github.com/stretchr/testify/require"

	sstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
	"github.com/containerd/containerd/v2/internal/nri"
)

// slowHook is a plugin that answers RunPodSandbox of one pod only when it is released.
type slowHook struct {
	heard       atomic.Bool // of any pod
	asked, free chan struct{}
}

func (p *slowHook) RunPodSandbox(_ context.Context, pod *api.PodSandbox) error {
	p.heard.Store(true)
	if pod.GetId() == "waits" {
		close(p.asked)
		<-p.free
	}
	return nil
}

// While a plugin handles the hook of one pod, other plugins receive the end of another pod.
func TestPodsDoNotWaitForOneAnother(t *testing.T) {
	ctx := t.Context()
	plugins, connect := newPlugins(t)
	require.NoError(t, plugins.Start())
	t.Cleanup(plugins.Stop)
	pod := func(id string) nri.PodSandbox {
		sandbox := sstore.NewSandbox(sstore.Metadata{ID: id}, sstore.Status{})
		return &criPodSandbox{Sandbox: &sandbox, spec: &runtimespec.Spec{}}
	}
	ends := &lister{synchronized: make(chan struct{})}
	connect("lister", ends)
	<-ends.synchronized
	require.NoError(t, plugins.RunPodSandbox(ctx, pod("ends")))
	slow := &slowHook{asked: make(chan struct{}), free: make(chan struct{})}
	connect("slow", slow)

	pods := 0
	require.Eventually(t, func() bool {
		pods++
		return plugins.RunPodSandbox(ctx, pod(fmt.Sprint("other", pods))) == nil && slow.heard.Load()
	}, time.Minute, time.Millisecond, "it has joined")

	ran := make(chan error, 1)
	go func() { ran <- plugins.RunPodSandbox(ctx, pod("waits")) }()
	<-slow.asked
	require.NoError(t, plugins.StopPodSandbox(ctx, pod("ends")))
	require.Eventually(t, func() bool { return len(ends.heard()) > 0 }, time.Minute, time.Millisecond)
	require.Equal(t, []string{"stop ends"}, ends.heard())
	require.Empty(t, ran, "the hook has ended")
	close(slow.free)
	require.NoError(t, <-ran)
}
