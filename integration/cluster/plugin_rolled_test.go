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

// churn has pods of a Deployment come and go until it is told to end, and then waits for
// a state of rest. next returns when some more begin to come or go.
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
				default: // nothing is to be done meanwhile
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
			t.Fatal("pods do not come and go any more")
		}
	}
	return next, func() {
		cancel()
		require.NoError(t, errors.Join(<-failed))
		c.scale(t, namespace, "churn", 3)
		c.rolledOut(t, namespace, "churn")
	}
}

// noMoreThan waits until a namespace has no more than some pods, so that no backlog grows on
// a node that is slow to end them.
func (c *cluster) noMoreThan(ctx context.Context, namespace string, most int) error {
	return wait.Until(ctx, "pods to end", slowly(func(ctx context.Context) error {
		pods, err := c.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
		if err == nil && len(pods.Items) > most {
			err = fmt.Errorf("there are %d", len(pods.Items))
		}
		return err
	}))
}

// rolledOver deploys a plugin, rolls it over some times while pods come and go in a
// namespace, and returns when all of them have gone.
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

// A DaemonSet of the plugin is rolled over while pods come and go: what its processes are told,
// one after the other, is lawful for one plugin, all pods start and go, and of each that a process
// knew the end is told, also if none was there then. A pod that came and went between two processes
// is told to neither.
func TestL18_PluginIsRolledOverWhilePodsComeAndGo(t *testing.T) {
	requireRolledOver(t, 3, recorderOptions{})
}

// The same with a process that comes before the other goes. It succeeds the other: each event is told
// to one of them.
func TestL19_PluginIsRolledOverWithMaxSurge(t *testing.T) {
	requireRolledOver(t, 2, recorderOptions{maxSurge: true})
}

// requireRolledOver rolls a plugin over, and reads what its processes were told as what one plugin was.
func requireRolledOver(t *testing.T, times int, o recorderOptions) {
	t.Helper()
	recorder, ns := onCluster(t).rolledOver(t, times, o)

	pods := recorder.knew(t, ns)
	require.GreaterOrEqual(t, len(pods), 8, "the pods of the begin")
	recorder.hasEnds(t, ns, pods)
	processes := recorder.received(t)
	require.Greater(t, len(processes), times, "a process for each rollout")
	requireLawful(t, processes, ns)
}

// The plugin is taken off the node, and pods end meanwhile: it is told of their ends when
// it is back, and of the end of no pod that it never knew.
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
	// The kubelet removes what has ended once a minute: two go now, so that Synchronize lists neither,
	// and one later.
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
