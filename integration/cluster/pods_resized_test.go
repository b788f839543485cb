// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hookline-nri/hookline/testkit/plugin"
)

// quotaBefore and quotaAfter are the CPU time of a container before and after a resize from a
// limit of 100m to 200m, in microseconds for each period.
const (
	quotaBefore = 10000
	quotaAfter  = 20000
)

// resizable runs a pod that can be resized.
func (c *cluster) resizable(t testing.TB, ns string) *corev1.Pod {
	t.Helper()
	pod := c.pod(t, ns, "resized", func(p *corev1.Pod) {
		p.Spec.Containers[0].Resources = corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("50m"), corev1.ResourceMemory: resource.MustParse("32Mi")},
			Limits:   corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("64Mi")},
		}
	})
	return c.podReady(t, ns, pod.Name)
}

// resize asks for another CPU limit of the pod's container.
func (c *cluster) resize(t testing.TB, pod *corev1.Pod) {
	t.Helper()
	change := []byte(`{"spec":{"containers":[{"name":"main","resources":{"limits":{"cpu":"200m"}}}]}}`)
	_, err := c.CoreV1().Pods(pod.Namespace).Patch(t.Context(), pod.Name, mergePatch, change, metav1.PatchOptions{}, "resize")
	require.NoError(t, err)
}

// isResized waits until the container has the limit, and requires that it was not restarted.
func (c *cluster) isResized(t testing.TB, before *corev1.Pod) {
	t.Helper()
	eventually(t, later, "the resize", func(ctx context.Context) error {
		p, err := c.CoreV1().Pods(before.Namespace).Get(ctx, before.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		status := p.Status.ContainerStatuses[0]
		if status.Resources == nil || status.Resources.Limits.Cpu().String() != "200m" {
			return fmt.Errorf("its status has %+v", status.Resources)
		}
		if status.RestartCount != 0 {
			return errors.New("it was restarted")
		}
		return nil
	})
	require.Equal(t, before.Status.ContainerStatuses[0].ContainerID, c.podReady(t, before.Namespace, before.Name).Status.ContainerStatuses[0].ContainerID)
}

// A container is resized in place: plugins receive the update.
func resizedInPlace(t *testing.T, c *cluster, recorder *recorder, ns string) {
	pod := c.resizable(t, ns)
	c.resize(t, pod)
	c.isResized(t, pod)
	c.podGone(t, ns, pod.Name, soon)
	recorder.hasEnds(t, ns, map[string]string{string(pod.UID): pod.Name})
	calls := requireLawful(t, recorder.received(t), ns)
	require.NotEmpty(t, calls.Only(plugin.UpdateContainer))
	requireWholeLives(t, calls, map[string]string{string(pod.UID): pod.Name})
}

// quotas returns the CPU time of each update of a container that the plugin received.
func (r *recorder) quotas(t testing.TB, ns string) (all []int64) {
	t.Helper()
	for _, call := range requireLawful(t, r.received(t), ns).Only(plugin.UpdateContainer) {
		all = append(all, call.Resources.GetCpu().GetQuota().GetValue())
	}
	return all
}

// synchronized returns the CPU time of the pod of a namespace and of its container, as the plugin
// received them when it registered.
func (r *recorder) synchronized(t testing.TB, ns string) map[string]int64 {
	t.Helper()
	all := map[string]int64{}
	for _, call := range r.received(t)[0].Calls.Only(plugin.Synchronize) {
		for _, pod := range call.Pods {
			if pod.GetNamespace() != ns {
				continue
			}
			all["pod"] = pod.GetLinux().GetPodResources().GetCpu().GetQuota().GetValue()
			for _, container := range call.Containers {
				if container.GetPodSandboxId() == pod.GetId() {
					all["container"] = container.GetLinux().GetResources().GetCpu().GetQuota().GetValue()
				}
			}
		}
	}
	return all
}

// A plugin rejects the resize of a container several times, and then agrees. After each rejection
// the plugin before it receives what holds.
func TestL26_KubeletTriesARefusedResizeAgain(t *testing.T) {
	c := onCluster(t)
	c.nothingLeft(t)
	ns := c.namespace(t)
	allow := records + "/" + ns + ".allow"
	t.Cleanup(func() { c.onNode(t, "rm", "-f", allow) })
	agrees := c.record(t, "agrees", recorderOptions{index: "40"})
	rejects := c.record(t, "rejects", recorderOptions{index: "60", noUpdate: allow})
	agrees.connected(t)
	rejects.connected(t)
	pod := c.resizable(t, ns)

	c.resize(t, pod)
	eventually(t, later, "what holds, twice", func(ctx context.Context) error {
		if got := agrees.quotas(t, ns); len(got) < 4 {
			return fmt.Errorf("the first plugin received %v", got)
		}
		return nil
	})
	refused, err := c.CoreV1().Pods(ns).Get(t.Context(), pod.Name, metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, "100m", refused.Status.ContainerStatuses[0].Resources.Limits.Cpu().String())
	eventually(t, soon, "the kubelet to show the plugin's message", func(ctx context.Context) error {
		p, err := c.CoreV1().Pods(ns).Get(ctx, pod.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, condition := range p.Status.Conditions {
			if condition.Type == corev1.PodResizeInProgress && strings.Contains(condition.Message, "no room for this update") {
				t.Logf("the pod is %s: %s, %s", condition.Type, condition.Reason, condition.Message)
				return nil
			}
		}
		return fmt.Errorf("it has %+v", p.Status.Conditions)
	})
	c.onNode(t, "touch", allow)
	c.isResized(t, pod)
	late := c.record(t, "late", recorderOptions{})
	late.connected(t)
	require.Equal(t, map[string]int64{"pod": quotaAfter, "container": quotaAfter}, late.synchronized(t, ns))

	c.podGone(t, ns, pod.Name, soon)
	agrees.hasEnds(t, ns, map[string]string{string(pod.UID): pod.Name})
	received := agrees.quotas(t, ns)
	t.Logf("the first plugin received %v, the second one %v", received, rejects.quotas(t, ns))
	for i, quota := range received[:len(received)-1] {
		require.EqualValues(t, []int64{quotaAfter, quotaBefore}[i%2], quota, "update %d of %v", i+1, received)
	}
	require.EqualValues(t, quotaAfter, received[len(received)-1])
	asked := slices.DeleteFunc(slices.Clone(received), func(quota int64) bool { return quota == quotaBefore })
	require.Equal(t, asked, rejects.quotas(t, ns), "the plugin that rejects receives the updates alone")
}
