// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/hookline-nri/hookline/integration/history"
	"github.com/hookline-nri/hookline/integration/plugin"
)

// whole is what every plugin is told of a pod with one container.
var whole = []plugin.Event{
	plugin.RunPodSandbox,
	plugin.CreateContainer,
	plugin.PostCreateContainer,
	plugin.StartContainer,
	plugin.PostStartContainer,
	plugin.StopContainer,
	plugin.RemoveContainer,
	plugin.StopPodSandbox,
	plugin.RemovePodSandbox,
}

// teardown are the events that must reach all, in order.
var teardown = []plugin.Event{
	plugin.StopContainer,
	plugin.RemoveContainer,
	plugin.StopPodSandbox,
	plugin.RemovePodSandbox,
}

// undone is what a plugin that was asked for a pod is told of it when the pod
// does not come to be.
var undone = []plugin.Event{plugin.RunPodSandbox, plugin.StopPodSandbox, plugin.RemovePodSandbox}

// life is a pod with one running container.
type life struct {
	n              target
	pod, container string // ids
}

// newLife brings a pod with one container up.
func newLife(t *testing.T, n target, name string) life {
	t.Helper()
	return newLifeOf(t, n, n.CRI().Pod(name))
}

// newLifeOf is newLife of a pod that is more than its name.
func newLifeOf(t *testing.T, n target, config *runtime.PodSandboxConfig) life {
	t.Helper()
	ctx, c := withinAMinute(t), n.CRI()
	pod, err := c.RunPod(ctx, config)
	require.NoError(t, err)
	container, err := c.Create(ctx, pod, config, c.Container("main"))
	require.NoError(t, err)
	require.NoError(t, c.Start(ctx, container))
	require.NoError(t, n.Settled(ctx, container))
	return life{n, pod, container}
}

// end stops and removes the container, then the pod, step by step.
func (l life) end(t *testing.T) {
	t.Helper()
	ctx, c := withinAMinute(t), l.n.CRI()
	require.NoError(t, c.Stop(ctx, l.container, 10*time.Second))
	require.NoError(t, c.Remove(ctx, l.container))
	require.NoError(t, c.StopPod(ctx, l.pod))
	require.NoError(t, c.RemovePod(ctx, l.pod))
}

// timesSynchronized counts a pod in all that a plugin was synchronized with.
func timesSynchronized(p *plugin.Plugin, pod string) (times int) {
	for _, call := range p.Calls().Only(plugin.Synchronize) {
		for _, known := range call.Pods {
			if known.GetId() == pod || known.GetName() == pod {
				times++
			}
		}
	}
	return times
}

// requireEveryEndToldOnce looks for the whole of a life that has ended, with the
// ends in order.
func requireEveryEndToldOnce(t *testing.T, p *plugin.Plugin, l life) {
	t.Helper()
	calls := p.Calls().Of(l.pod)
	assert.Equal(t, whole[:5], calls.Events()[:5])
	assert.ElementsMatch(t, teardown, calls.Events()[5:])
	reading := history.Read(p.Calls(), nil)
	assert.Empty(t, reading.Faults())
	assert.Empty(t, reading.Alive())
}
