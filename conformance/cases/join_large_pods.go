// SPDX-License-Identifier: Apache-2.0

package cases

import (
	"fmt"
	"strings"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/testkit/history"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

var (
	unable = OnStock("it cannot join while a few pods and containers are too large for one message")
	died   = OnStock("the runtime panics when it joins while single pods and containers are large")
)

// The pods and containers do not fit into one message of NRI, of 4 MiB. Neither do eight of
// them, where so many exist.
var _ = Joining.has("L2_PodsAndContainersOfAnySizeAreDelivered", Needs{}, func(t T) {
	for name, large := range map[string]struct {
		pods, containers int // in each pod
		annotation, env  int // KiB in each pod, in each container
		stock            Breach
	}{
		"few pods":              {pods: 5, annotation: 900, stock: unable},
		"pods alone":            {pods: 9, annotation: 600, stock: died},
		"few containers":        {pods: 1, containers: 5, env: 900, stock: unable},
		"containers of one pod": {pods: 1, containers: 9, env: 600, stock: died},
		"both":                  {pods: 2, containers: 3, annotation: 1500, env: 900, stock: unable},
	} {
		t.Run(name, func(t T) {
			n := t.Runtime()
			ctx, c := WithinAMinute(t), n.CRI()
			var pods, containers []string
			for i := range large.pods {
				config := c.Pod(fmt.Sprint("large", i))
				config.Annotations = map[string]string{"large": KiB(large.annotation)}
				pod, err := c.RunPod(ctx, config)
				require.NoError(t, err)
				pods = append(pods, pod)
				for j := range large.containers {
					container, err := c.Create(ctx, pod, config, FromConfigMaps(c.Container(fmt.Sprint("large", j)), large.env))
					require.NoError(t, err)
					containers = append(containers, container)
				}
			}

			late := NewPlugin(t, "10", "late")
			Watch(t, late)
			t.Cleanup(late.Crash)
			errJoin := late.Connect(WithinAMinute(t), n.NRISocket())

			t.Promise("L2", "a plugin can join, and the runtime does not crash", large.stock, func(t require.TestingT) {
				assert.NoError(t, errJoin)
				_, err := c.Runtime.Version(ctx, &runtime.VersionRequest{})
				require.NoError(t, err, "the runtime is gone")
			})
			t.Promise("L2", "it receives all of them, to the last byte, in one Synchronize", large.stock, func(t require.TestingT) {
				calls := late.Calls().Only(plugin.Synchronize)
				require.Len(t, calls, 1)
				var deliveredPods, deliveredContainers []string
				for _, pod := range calls[0].Pods {
					deliveredPods = append(deliveredPods, pod.GetId())
					assert.Len(t, pod.GetAnnotations()["large"], large.annotation<<10)
				}
				for _, container := range calls[0].Containers {
					deliveredContainers = append(deliveredContainers, container.GetId())
					assert.Greater(t, len(strings.Join(container.GetEnv(), "")), large.env<<10)
				}
				assert.ElementsMatch(t, pods, deliveredPods)
				assert.ElementsMatch(t, containers, deliveredContainers)
			})
			t.Promise("L3", "it receives the end of all of them", large.stock, func(t require.TestingT) {
				for _, pod := range pods {
					require.NoError(t, c.StopPod(ctx, pod))
					require.NoError(t, c.RemovePod(ctx, pod))
				}
				require.NotEmpty(t, late.Calls().Only(plugin.RemovePodSandbox))
				ended := history.Read(late.Calls(), nil)
				assert.Empty(t, ended.Faults())
				assert.Empty(t, ended.Alive())
			})
		})
	}
})
