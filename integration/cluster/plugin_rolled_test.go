// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hookline-nri/hookline/testkit/wait"
)

// churn creates and deletes pods of a Deployment until end is called, which then waits until the
// Deployment is stable. next returns when the next pods are about to start or end.
func (c *cluster) churn(t testing.TB, namespace string) (next, end func()) {
	t.Helper()
	c.deployment(t, namespace, "churn", 8)
	c.rolledOut(t, namespace, "churn")
	ctx, cancel := context.WithCancel(t.Context())
	scaled, failed := make(chan struct{}), make(chan error, 1)
	go func() {
		defer close(failed)
		for replicas := 2; ctx.Err() == nil; replicas = 10 - replicas {
			err := c.setReplicas(ctx, namespace, "churn", int32(replicas))
			if err == nil {
				select {
				case scaled <- struct{}{}:
				default: // nothing waits for it
				}
				err = c.noMoreThan(ctx, namespace, 12)
			}
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
	next = func() {
		t.Helper()
		select {
		case <-scaled:
		case err := <-failed:
			require.NoError(t, err)
		case <-time.After(later):
			t.Fatal("no more pods are created or deleted")
		}
	}
	return next, func() {
		cancel()
		require.NoError(t, errors.Join(<-failed))
		c.scale(t, namespace, "churn", 3)
		c.rolledOut(t, namespace, "churn")
	}
}

// noMoreThan waits until a namespace has at most so many pods, so that no backlog grows on a node
// that is slow to end them.
func (c *cluster) noMoreThan(ctx context.Context, namespace string, most int) error {
	return wait.Until(ctx, "pods to end", slowly(func(ctx context.Context) error {
		pods, err := c.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
		if err == nil && len(pods.Items) > most {
			err = fmt.Errorf("%d exist", len(pods.Items))
		}
		return err
	}))
}

// rolledOver deploys a plugin, rolls it over some times while pods are created and deleted in a
// namespace, and returns when all of them are gone.
func (c *cluster) rolledOver(t testing.TB, times int, o recorderOptions) (r *recorder, namespace string) {
	t.Helper()
	c.nothingLeft(t)
	r = c.record(t, "recorder", o)
	r.connected(t)
	namespace = c.namespace(t)
	next, end := c.churn(t, namespace)
	for range times {
		next()
		r.roll(t)
	}
	end()
	c.scale(t, namespace, "churn", 0)
	c.rolledOut(t, namespace, "churn")
	return r, namespace
}

// A DaemonSet of the plugin is rolled over while pods are created and deleted. All pods start and
// end. The events of its processes, one after the other, keep the contract for one plugin: it
// receives the end of each pod that a process knew, also if the pod ended while no process was
// connected. No process receives a pod that began and ended between two of them.
func TestL18_PluginIsRolledOverWhilePodsComeAndGo(t *testing.T) {
	requireRolledOver(t, 3, recorderOptions{})
}

// The same with a process that starts before the other ends. It is the successor of the other: each
// event reaches one of them.
func TestL19_PluginIsRolledOverWithMaxSurge(t *testing.T) {
	requireRolledOver(t, 2, recorderOptions{maxSurge: true})
}

// requireRolledOver rolls a plugin over, and checks the events of its processes as those of one
// plugin.
func requireRolledOver(t *testing.T, times int, o recorderOptions) {
	t.Helper()
	recorder, ns := onCluster(t).rolledOver(t, times, o)

	pods := recorder.knew(t, ns)
	require.GreaterOrEqual(t, len(pods), 8, "the pods at the beginning")
	recorder.hasEnds(t, ns, pods)
	processes := recorder.received(t)
	require.Greater(t, len(processes), times, "a process for each rollout")
	requireLawful(t, processes, ns)
}

// The plugin is removed from the node, and pods end meanwhile. When it is back, it receives their
// ends, and no end of a pod that it never knew.
func TestL18_RedeployedPluginReceivesItsMissedEnds(t *testing.T) {
	c := onCluster(t)
	c.nothingLeft(t)
	own, ns := c.namespace(t), c.namespace(t)
	recorder := c.record(t, "recorder", recorderOptions{namespace: own})
	recorder.connected(t)
	known := map[string]string{}
	for _, name := range []string{"ends", "is-removed", "stays"} {
		c.pod(t, ns, name, nil)
		known[string(c.podReady(t, ns, name).UID)] = name
	}
	recorder.gone(t)
	c.pod(t, ns, "unknown", nil)
	unknown := string(c.podReady(t, ns, "unknown").UID)
	for _, name := range []string{"ends", "is-removed", "unknown"} {
		c.podGone(t, ns, name, soon)
	}
	// The kubelet removes ended pods once a minute: two are removed now, so that Synchronize has
	// neither, and one later.
	for _, name := range []string{"is-removed", "unknown"} {
		c.onNode(t, "sh", "-c", `crictl pods -q --namespace "$1" --name "$2" | xargs -r crictl rmp -f`, "sh", ns, name)
	}
	c.restartContainerd(t, "KILL")

	recorder.deploy(t, recorderOptions{})
	recorder.connected(t)
	c.podGone(t, ns, "stays", soon)
	recorder.hasEnds(t, ns, known)
	calls := requireLawful(t, recorder.received(t), ns)
	for _, call := range calls {
		require.NotEqual(t, unknown, call.Pod.GetUid(), "%s of a pod that it never knew", call.Event)
	}
}
