// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/hookline-nri/hookline/integration/history"
	"github.com/hookline-nri/hookline/integration/plugin"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"
)

const (
	gaveUp = "a plugin cannot join while few pods and containers are too large for one message"
	died   = "the runtime panics when a plugin joins and single pods and containers are large"
)

// What there is does not fit in a message of NRI, of 4 MiB, and neither do
// eight of the objects, or else there are no eight.
func TestL2_LargePodsAndContainersAreTold(t *testing.T) {
	for name, large := range map[string]struct {
		pods, containers int // in each pod
		annotation, env  int // KiB in each pod, in each container
		breaks           string
	}{
		"few pods":              {pods: 5, annotation: 900, breaks: gaveUp},
		"pods alone":            {pods: 9, annotation: 600, breaks: died},
		"few containers":        {pods: 1, containers: 5, env: 900, breaks: gaveUp},
		"containers of one pod": {pods: 1, containers: 9, env: 600, breaks: died},
		"both":                  {pods: 2, containers: 3, annotation: 1500, env: 900, breaks: gaveUp},
	} {
		t.Run(name, func(t *testing.T) {
			n := startNode(t)
			ctx, c := withinAMinute(t), n.CRI()
			var pods, containers []string
			for i := range large.pods {
				config := c.Pod(fmt.Sprint("large", i))
				config.Annotations = map[string]string{"large": kib(large.annotation)}
				pod, err := c.RunPod(ctx, config)
				require.NoError(t, err)
				pods = append(pods, pod)
				for j := range large.containers {
					container, err := c.Create(ctx, pod, config, fromConfigMaps(c.Container(fmt.Sprint("large", j)), large.env))
					require.NoError(t, err)
					containers = append(containers, container)
				}
			}

			late := plugin.New("10", "late")
			t.Cleanup(late.Crash)
			errJoin := late.Connect(withinAMinute(t), n.NRISocket())

			stockBreaks(t, "L2", large.breaks, func(t require.TestingT) {
				assert.NoError(t, errJoin)
				_, err := c.Runtime.Version(ctx, &runtime.VersionRequest{})
				require.NoError(t, err, "the runtime is gone")
				calls := late.Calls().Only(plugin.Synchronize)
				require.Len(t, calls, 1)
				var toldPods, toldContainers []string
				for _, pod := range calls[0].Pods {
					toldPods = append(toldPods, pod.GetId())
					assert.Len(t, pod.GetAnnotations()["large"], large.annotation<<10)
				}
				for _, container := range calls[0].Containers {
					toldContainers = append(toldContainers, container.GetId())
					assert.Greater(t, len(strings.Join(container.GetEnv(), "")), large.env<<10)
				}
				assert.ElementsMatch(t, pods, toldPods)
				assert.ElementsMatch(t, containers, toldContainers)

				for _, pod := range pods {
					require.NoError(t, c.StopPod(ctx, pod))
					require.NoError(t, c.RemovePod(ctx, pod))
				}
				ended := history.Read(late.Calls(), nil)
				assert.Empty(t, ended.Faults())
				assert.Empty(t, ended.Alive())
			})
		})
	}
}

// What no message holds keeps plugins out, and is named to who reads the log.
func TestL17_TooLargeToBeToldIsNamed(t *testing.T) {
	n := startNode(t)
	ctx, c := withinAMinute(t), n.CRI()
	config := c.Pod("huge")
	config.Annotations = map[string]string{"huge": kib(5 << 10)}
	pod, err := c.RunPod(ctx, config)
	require.NoError(t, err)
	small, err := c.RunPod(ctx, c.Pod("small"))
	require.NoError(t, err)

	late := plugin.New("10", "late")
	t.Cleanup(late.Crash)
	require.Error(t, late.Connect(withinAMinute(t), n.NRISocket()))
	stockBreaks(t, "L17", "a pod that is too large to be told of is not named", func(t require.TestingT) {
		requireSoon(t, "the pod in the log", func(context.Context) error {
			return hasLogged(n, "10-late", "default/huge", pod, "exceed maximum message size of 4194304")
		})
	})

	require.NoError(t, c.StopPod(ctx, pod))
	require.NoError(t, c.RemovePod(ctx, pod))
	connect(t, n, late)
	calls := late.Calls().Only(plugin.Synchronize)
	require.Len(t, calls, 1)
	require.Len(t, calls[0].Pods, 1)
	require.Equal(t, small, calls[0].Pods[0].GetId())
}

// kib is a text of so many KiB.
func kib(n int) string { return strings.Repeat("x", n<<10) }

// fromConfigMaps gives a container an environment of so many KiB, in variables
// that Linux takes, as it comes of a ConfigMap or two in its envFrom.
func fromConfigMaps(container *runtime.ContainerConfig, n int) *runtime.ContainerConfig {
	const each = 100
	for i := range n / each {
		container.Envs = append(container.Envs, &runtime.KeyValue{Key: fmt.Sprint("LARGE", i), Value: []byte(kib(each))})
	}
	return container
}
