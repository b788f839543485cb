// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hookline-nri/hookline/testkit/plugin"
)

func (c *cluster) setReplicas(ctx context.Context, namespace, name string, replicas int32) error {
	scale, err := c.AppsV1().Deployments(namespace).GetScale(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	scale.Spec.Replicas, scale.ResourceVersion = replicas, ""
	_, err = c.AppsV1().Deployments(namespace).UpdateScale(ctx, name, scale, metav1.UpdateOptions{})
	return err
}

// Containerd is restarted and killed while pods are created and deleted: running pods are not
// restarted, all others start or end, and the plugin's record keeps the contract.
func TestL15_ContainerdIsRestartedAndKilledWhilePodsComeAndGo(t *testing.T) {
	c := onCluster(t)
	c.nothingLeft(t)
	recorder := c.record(t, "recorder", recorderOptions{})
	recorder.connected(t)
	ns := c.namespace(t)
	c.pod(t, ns, "steady", nil)
	steady := c.podReady(t, ns, "steady")
	next, end := c.churn(t, ns)
	for _, signal := range []string{"TERM", "KILL", "KILL"} {
		next()
		recorder.restartContainerd(t, signal)
	}
	end()
	c.requireUntouched(t, steady)
	c.podGone(t, ns, "steady", soon)
	c.scale(t, ns, "churn", 0)
	c.rolledOut(t, ns, "churn")
	requireLawful(t, recorder.received(t), ns)
	recorder.hasEnds(t, ns, map[string]string{string(steady.UID): "steady"})
}

// requireUntouched asserts that a pod is the same, runs, and was not restarted.
func (c *cluster) requireUntouched(t testing.TB, before *corev1.Pod) {
	t.Helper()
	now := c.podReady(t, before.Namespace, before.Name)
	require.Equal(t, before.UID, now.UID)
	require.Zero(t, now.Status.ContainerStatuses[0].RestartCount, "restarts of %s", now.Name)
	require.Equal(t, before.Status.ContainerStatuses[0].ContainerID, now.Status.ContainerStatuses[0].ContainerID)
	require.Equal(t, before.Status.PodIP, now.Status.PodIP)
}

// The kubelet is restarted while a plugin handles the hook of a pod: the pod starts once, and the
// plugin receives no more sandboxes than the kubelet requested.
func TestL7_KubeletIsRestartedInTheMiddleOfAHook(t *testing.T) {
	c := onCluster(t)
	c.nothingLeft(t)
	recorder := c.record(t, "recorder", recorderOptions{})
	recorder.connected(t)
	ns := c.namespace(t)
	restarted := records + "/" + ns + ".restarted"
	t.Cleanup(func() { c.onNode(t, "rm", "-f", restarted) })
	c.annotated(t, ns, "slow", "e2e.hookline.dev/hold-run", restarted)
	eventually(t, soon, "the hook", func(context.Context) error {
		if len(requireLawful(t, recorder.received(t), ns).Only(plugin.RunPodSandbox)) == 0 {
			return errors.New("it has not begun")
		}
		return nil
	})
	before := c.answer(t, func(ctx context.Context) (string, error) { return c.mainPID(ctx, "kubelet") })
	c.newProcess(t, "kubelet", before, "sh", "-c", `systemctl restart kubelet && touch "$1"`, "sh", restarted)
	c.onNode(t, "touch", restarted) // the command above may have been interrupted
	pod := c.podReady(t, ns, "slow")
	c.podGone(t, ns, "slow", soon)
	recorder.hasEnds(t, ns, map[string]string{string(pod.UID): "slow"})
	calls := requireLawful(t, recorder.received(t), ns)
	runs, ends := calls.Only(plugin.RunPodSandbox), calls.Only(plugin.RemovePodSandbox)
	require.NotEmpty(t, runs)
	require.Len(t, ends, len(runs), "each sandbox that was received has its end")
	t.Logf("the kubelet asked for %d sandboxes", len(runs))
}
