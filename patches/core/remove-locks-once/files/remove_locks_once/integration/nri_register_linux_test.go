// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"sync"
	"testing"
	"time"

	"github.com/containerd/nri/pkg/api"
	"github.com/stretchr/testify/require"
)

// A plugin registers while a pod with a container is removed. Both succeed.
func TestNriPluginRegistersWhileAPodIsRemoved(t *testing.T) {
	skipNriTestIfNecessary(t)

	late := &mockPlugin{idx: "50", logf: t.Logf}
	var once sync.Once
	started := make(chan error, 1)
	tc := &nriTest{t: t, plugins: []*mockPlugin{{
		stopPodSandbox: func(*mockPlugin, *api.PodSandbox) error {
			// Once it is configured, it waits to be synchronized.
			once.Do(func() { started <- late.Start() })
			return nil
		},
	}}}
	tc.setup()
	late.namespace = tc.namespace

	pod := tc.runPod("pod")
	tc.startContainer(pod, "container")

	removed := make(chan error, 1)
	go func() { removed <- tc.runtime.RemovePodSandbox(pod) }()
	select {
	case err := <-removed:
		require.NoError(t, err)
	case <-time.After(time.Minute):
		require.Fail(t, "the pod is not removed")
	}
	require.NoError(t, <-started)
	require.NoError(t, late.Wait(PluginSynchronized, time.After(time.Minute)))
}
