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
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hookline-nri/hookline/podresources"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// recorded deploys a recorder.
func (c *cluster) recorded(t testing.TB) *recorder {
	t.Helper()
	c.nothingLeft(t)
	r := c.record(t, "recorder", recorderOptions{})
	r.connected(t)
	return r
}

// The plugin receives the whole life of pods of each kind, once and in order. They run in parallel,
// since the kubelet takes long to collect them.
func TestL1_LivesOfPodsOfAllKinds(t *testing.T) {
	c := onCluster(t)
	plugin := c.recorded(t)
	kinds := map[string]func(*testing.T, *cluster, *recorder, string){
		"static":              staticPod,
		"init and sidecar":    initAndSidecar,
		"user namespace":      userNamespace,
		"resized in place":    resizedInPlace,
		"evicted":             evicted,
		"hundred completions": hundredCompletions,
		"announced":           announced,
	}
	for name, life := range kinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			life(t, c, plugin, c.namespace(t))
		})
	}
}

// A static pod, which the kubelet makes by itself.
func staticPod(t *testing.T, c *cluster, recorder *recorder, ns string) {
	const file = "/etc/kubernetes/manifests/hookline-e2e.yaml"
	manifest := fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"static","namespace":%q},"spec":{
		"terminationGracePeriodSeconds":5,
		"containers":[{"name":"main","image":%q,"imagePullPolicy":"IfNotPresent","args":["wait"]}]}}`, ns, c.image)
	t.Cleanup(func() { c.onNode(t, "rm", "-f", file) })
	c.write(t, file, manifest)
	name := "static-" + c.worker
	c.podReady(t, ns, name)
	c.onNode(t, "rm", "-f", file)
	eventually(t, later, "the end of the static pod", func(ctx context.Context) error {
		_, err := c.CoreV1().Pods(ns).Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return errors.Join(errors.New("it exists"), err)
	})
	// On the node it has a UID of the kubelet's.
	var uid string
	for _, call := range requireLawful(t, recorder.received(t), ns).Only(plugin.RunPodSandbox) {
		uid = call.Pod.GetUid()
	}
	require.NotEmpty(t, uid)
	recorder.hasEnds(t, ns, map[string]string{uid: name})
	requireWholeLives(t, requireLawful(t, recorder.received(t), ns), map[string]string{uid: name})
}

// A pod with an init container and a sidecar: the events of each container come in order, and the
// sidecar ends last.
func initAndSidecar(t *testing.T, c *cluster, recorder *recorder, ns string) {
	always := corev1.ContainerRestartPolicyAlways
	pod := c.pod(t, ns, "family", func(p *corev1.Pod) {
		sidecar := c.waits("sidecar")
		sidecar.RestartPolicy = &always
		p.Spec.InitContainers = []corev1.Container{c.waits("init", "-now"), sidecar}
	})
	c.podReady(t, ns, pod.Name)
	c.podGone(t, ns, pod.Name, soon)
	recorder.hasEnds(t, ns, map[string]string{string(pod.UID): pod.Name})
	calls := requireLawful(t, recorder.received(t), ns)
	requireWholeLives(t, calls, map[string]string{string(pod.UID): pod.Name})
	require.Equal(t, []string{"init", "sidecar", "main"}, containers(calls, plugin.CreateContainer))
	stops := containers(calls, plugin.StopContainer)
	require.Less(t, slices.Index(stops, "main"), slices.Index(stops, "sidecar"), "%v", stops)
}

// containers returns the names of an event's containers, in order.
func containers(calls plugin.Calls, event plugin.Event) (list []string) {
	for _, call := range calls.Only(event) {
		list = append(list, call.Container.GetName())
	}
	return list
}

// A pod with a user namespace, if the kernel supports it.
func userNamespace(t *testing.T, c *cluster, recorder *recorder, ns string) {
	no := false
	pod := c.pod(t, ns, "users", func(p *corev1.Pod) { p.Spec.HostUsers = &no })
	eventually(t, later, "the pod to be ready or rejected", func(ctx context.Context) error {
		p, err := c.CoreV1().Pods(ns).Get(ctx, pod.Name, metav1.GetOptions{})
		if err != nil || isReady(*p) {
			return err
		}
		events, err := c.CoreV1().Events(ns).List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.name=" + pod.Name})
		if err != nil {
			return err
		}
		for _, e := range events.Items {
			if strings.Contains(e.Message, "user namespaces") || strings.Contains(e.Message, "idmap") {
				lacks(t, "user namespaces on the node: "+e.Message)
			}
		}
		return errors.New("it is not ready")
	})
	require.NotEqual(t, c.userNamespaceOf(t, "1"), c.userNamespaceOf(t, c.pidOf(t, c.podReady(t, ns, pod.Name))))
	c.podGone(t, ns, pod.Name, soon)
	recorder.hasEnds(t, ns, map[string]string{string(pod.UID): pod.Name})
	requireWholeLives(t, requireLawful(t, recorder.received(t), ns), map[string]string{string(pod.UID): pod.Name})
}

// pidOf returns the process on the node of a pod's first container.
func (c *cluster) pidOf(t testing.TB, pod *corev1.Pod) string {
	t.Helper()
	_, id, _ := strings.Cut(pod.Status.ContainerStatuses[0].ContainerID, "://")
	pid := strings.TrimSpace(c.onNode(t, "crictl", "inspect", "--output", "go-template", "--template", "{{.info.pid}}", id))
	require.NotEmpty(t, pid)
	return pid
}

// userNamespaceOf returns the user namespace of a process on the node.
func (c *cluster) userNamespaceOf(t testing.TB, pid string) string {
	t.Helper()
	return c.onNode(t, "readlink", "/proc/"+pid+"/ns/user")
}

// The kubelet evicts a pod that wrote too much to its disk. The pod's program fails on SIGTERM: if
// it succeeded before the API server knows of the eviction, the kubelet would report the pod as
// succeeded (generateAPIPodStatus of Kubernetes v1.37.1).
func evicted(t *testing.T, c *cluster, recorder *recorder, ns string) {
	pod := c.pod(t, ns, "evicted", func(p *corev1.Pod) {
		p.Spec.RestartPolicy = corev1.RestartPolicyNever
		p.Spec.Volumes = []corev1.Volume{{Name: "disk", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
		p.Spec.Containers[0] = c.waits("main", "-fill", "/disk/file", "-fail")
		p.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "disk", MountPath: "/disk"}}
		p.Spec.Containers[0].Resources.Limits = corev1.ResourceList{corev1.ResourceEphemeralStorage: resource.MustParse("16Mi")}
	})
	eventually(t, collect, "the eviction", func(ctx context.Context) error {
		p, err := c.CoreV1().Pods(ns).Get(ctx, pod.Name, metav1.GetOptions{})
		if err == nil && p.Status.Reason != "Evicted" {
			err = fmt.Errorf("it is %s %s", p.Status.Phase, p.Status.Reason)
		}
		return err
	})
	c.podGone(t, ns, pod.Name, soon)
	recorder.hasEnds(t, ns, map[string]string{string(pod.UID): pod.Name})
	requireWholeLives(t, requireLawful(t, recorder.received(t), ns), map[string]string{string(pod.UID): pod.Name})
}

// A Job with a hundred completions: a hundred lives.
func hundredCompletions(t *testing.T, c *cluster, recorder *recorder, ns string) {
	hundred, side := int32(100), int32(20)
	template := c.template(nil)
	template.Spec.RestartPolicy = corev1.RestartPolicyNever
	template.Spec.Containers[0] = c.waits("main", "-now")
	job, err := c.BatchV1().Jobs(ns).Create(t.Context(), &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: "hundred"},
		Spec:       batchv1.JobSpec{Completions: &hundred, Parallelism: &side, Template: template},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	eventually(t, collect, "the completions", func(ctx context.Context) error {
		j, err := c.BatchV1().Jobs(ns).Get(ctx, job.Name, metav1.GetOptions{})
		if err == nil && j.Status.Succeeded < hundred {
			err = fmt.Errorf("%d succeeded, %d failed", j.Status.Succeeded, j.Status.Failed)
		}
		return err
	})
	list, err := c.CoreV1().Pods(ns).List(t.Context(), metav1.ListOptions{LabelSelector: "job-name=hundred"})
	require.NoError(t, err)
	pods := map[string]string{}
	for _, p := range list.Items {
		pods[string(p.UID)] = p.Name
	}
	require.Len(t, pods, int(hundred))
	background := metav1.DeletePropagationBackground
	require.NoError(t, c.BatchV1().Jobs(ns).Delete(t.Context(), job.Name, metav1.DeleteOptions{PropagationPolicy: &background}))
	recorder.hasEnds(t, ns, pods)
	requireWholeLives(t, requireLawful(t, recorder.received(t), ns), pods)
}

// A node that is drained, by cordon and eviction of its pods.
func TestL1_NodeIsDrained(t *testing.T) {
	c := onCluster(t)
	recorder := c.recorded(t)
	ns := c.namespace(t)
	pods := c.watchPods(t, ns)
	const replicas = 10
	c.deployment(t, ns, "web", replicas)
	c.rolledOut(t, ns, "web")
	cordon := func(on bool) {
		_, err := c.CoreV1().Nodes().Patch(context.Background(), c.worker, mergePatch, fmt.Appendf(nil, `{"spec":{"unschedulable":%v}}`, on), metav1.PatchOptions{})
		require.NoError(t, err)
	}
	cordon(true)
	t.Cleanup(func() { cordon(false); c.ready(t) })
	// The scheduler may send one more pod there before it learns of the cordon.
	eventually(t, later, "the node to be empty", func(ctx context.Context) error {
		left, err := c.CoreV1().Pods(ns).List(ctx, metav1.ListOptions{FieldSelector: "spec.nodeName=" + c.worker})
		if err != nil || len(left.Items) == 0 {
			return err
		}
		for _, p := range left.Items {
			if p.DeletionTimestamp != nil {
				continue
			}
			eviction := &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: p.Name, Namespace: ns}}
			if err := c.CoreV1().Pods(ns).EvictV1(ctx, eviction); err != nil && !apierrors.IsNotFound(err) {
				return err
			}
		}
		return fmt.Errorf("it has %s", names(left.Items))
	})
	all := pods.all(t, replicas)
	recorder.hasEnds(t, ns, all)
	requireWholeLives(t, requireLawful(t, recorder.received(t), ns), all)
	cordon(false)
	c.rolledOut(t, ns, "web")
}

// Plugins receive the announcement in a pod's annotation before its first container.
func announced(t *testing.T, c *cluster, recorder *recorder, ns string) {
	if settings := c.onNode(t, "sh", "-c", "containerd config dump | grep pod_resources_annotation"); !strings.Contains(settings, "true") {
		lacks(t, "the setting pod_resources_annotation on the nodes")
	}
	requests := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("50m"), corev1.ResourceMemory: resource.MustParse("32Mi")}
	key, text, err := podresources.Annotation(podresources.Pod{Containers: []podresources.Container{{
		Name: "main", Type: podresources.MainContainer,
		Resources: podresources.Requirements{Requests: map[string]resource.Quantity{"cpu": requests["cpu"], "memory": requests["memory"]}},
	}}})
	require.NoError(t, err)
	pod := c.pod(t, ns, "announced", func(p *corev1.Pod) {
		p.Annotations = map[string]string{key: text}
		p.Spec.Containers[0].Resources.Requests = requests
	})
	c.podReady(t, ns, pod.Name)
	var found bool
	for _, p := range recorder.received(t) {
		for _, l := range p.Lines {
			if l.Event != plugin.RunPodSandbox || l.Pod.Namespace != ns {
				continue
			}
			require.NotNil(t, l.Pod.Announced)
			require.Len(t, l.Pod.Announced.Containers, 1)
			cpu := l.Pod.Announced.Containers[0].Resources.Requests["cpu"]
			require.Equal(t, "50m", cpu.String())
			found = true
		}
	}
	require.True(t, found, "RunPodSandbox was received")
	c.podGone(t, ns, pod.Name, soon)
}
