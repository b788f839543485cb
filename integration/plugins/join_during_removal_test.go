// SPDX-License-Identifier: Apache-2.0

package plugins

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/containerd/nri/pkg/api"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/testkit/cri"
	"github.com/hookline-nri/hookline/testkit/plugin"
	"github.com/hookline-nri/hookline/testkit/wait"
)

// CRI keeps a container in its store for a moment longer than containerd keeps its record.
func TestL2_PluginsJoinWhileContainersAreRemoved(t *testing.T) {
	t.Parallel()
	n := StartNode(t)
	ctx, enough := WithinAMinute(t), make(chan struct{})
	c := n.CRI()
	var all sync.WaitGroup
	var removed atomic.Int64
	for worker := range 3 {
		config := c.Pod(fmt.Sprint("pod", worker))
		pod, err := c.RunPod(ctx, config)
		require.NoError(t, err)
		all.Go(func() {
			assert.NoError(t, churnContainers(ctx, c, pod, config, &removed, enough))
			assert.NoError(t, errors.Join(c.StopPod(ctx, pod), c.RemovePod(ctx, pod)))
		})
	}
	var listed []*api.Container
	for i := 0; len(listed) < 50; i++ {
		p := plugin.New("10", fmt.Sprint("joins", i%20))
		before := removed.Load()
		Connect(t, n, p)
		for _, call := range p.Calls().Only(plugin.Synchronize) {
			listed = append(listed, call.Containers...)
		}
		p.Crash()
		require.NoError(t, wait.Until(ctx, "a removal", func(context.Context) error { // otherwise too many plugins register
			if removed.Load() == before {
				return errors.New("none")
			}
			return nil
		}))
	}
	close(enough)
	all.Wait()
	RequireNothingLeft(t, n)
	Promise(t, "L2", "each listed container has its pod and its name", KeptOnStock, func(t require.TestingT) {
		for _, container := range listed {
			assert.NotEmpty(t, container.GetPodSandboxId(), container)
			assert.NotEmpty(t, container.GetName(), container)
		}
	})
}

// churnContainers creates and removes containers of a pod until enough is closed.
func churnContainers(ctx context.Context, c *cri.Client, pod string, config *runtime.PodSandboxConfig, removed *atomic.Int64, enough <-chan struct{}) error {
	for i := 0; IsOpen(enough); i++ {
		container, err := c.Create(ctx, pod, config, c.Container(fmt.Sprint("c", i)))
		if err != nil {
			return err
		}
		if err := c.Remove(ctx, container); err != nil {
			return err
		}
		removed.Add(1)
	}
	return nil
}
