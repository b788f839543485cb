// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/integration/plugin"
)

// churn has pods of a Deployment come and go until it is told to end, and then waits for
// a state of rest.
func (c *cluster) churn(t testing.TB, namespace string) (end func()) {
	t.Helper()
	c.deployment(t, namespace, "churn", 8)
	c.rolledOut(t, namespace, "churn")
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	go func() {
		defer close(failed)
		for replicas := 2; ctx.Err() == nil; replicas = 10 - replicas {
			err := c.setReplicas(ctx, namespace, "churn", int32(replicas))
			if err != nil && ctx.Err() == nil {
				failed <- err
				return
			}
			select {
			case <-ctx.Done():
			case <-time.After(3 * time.Second):
			}
		}
	}()
	return func() {
		cancel()
		require.NoError(t, errors.Join(<-failed))
		c.scale(t, namespace, "churn", 3)
		c.rolledOut(t, namespace, "churn")
	}
}

// A DaemonSet of the plugin is rolled over while pods come and go: each process is told
// lawfully, and all pods come up and go.
func TestL2_PluginIsRolledOverWhilePodsComeAndGo(t *testing.T) {
	for name, surge := range map[string]bool{"one after the other": false, "with maxSurge": true} {
		t.Run(name, func(t *testing.T) {
			c := onCluster(t)
			c.nothingLeft(t)
			recorder := c.record(t, "recorder", recorderOptions{maxSurge: surge})
			recorder.connected(t)
			ns := c.namespace(t)
			pods := c.watchPods(t, ns)
			end := c.churn(t, ns)
			for range 3 {
				recorder.roll(t)
			}
			end()
			c.scale(t, ns, "churn", 0)
			c.rolledOut(t, ns, "churn")

			processes := recorder.told(t)
			require.GreaterOrEqual(t, len(processes), 4, "a process for each rollout")
			calls := requireLawful(t, processes, ns)
			require.NotEmpty(t, calls.Only(plugin.RunPodSandbox))
			require.NotEmpty(t, pods.all())
			if surge {
				return // two processes are told of some pods
			}
			for event, most := range map[plugin.Event]int{plugin.RunPodSandbox: 1, plugin.RemovePodSandbox: 1} {
				for uid, n := range times(calls, event) {
					require.LessOrEqual(t, n, most, "%s of pod %s", event, pods.all()[uid])
				}
			}
		})
	}
}
