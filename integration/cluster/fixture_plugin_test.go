// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/containerd/nri/pkg/api"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/hookline-nri/hookline/integration/cluster/record"
	"github.com/hookline-nri/hookline/testkit/history"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// records is the folder of the plugins' records on a node.
const records = "/var/lib/hookline-e2e"

// recorder is a DaemonSet of the tests' plugin, on all nodes.
type recorder struct {
	c               *cluster
	namespace, name string
}

// recorderOptions are further options of a recorder.
type recorderOptions struct {
	namespace   string        // a new one if empty
	work        time.Duration // how long each hook takes
	late        time.Duration // from its start until it registers
	hostNetwork bool
	maxSurge    bool   // a new pod starts before the old one ends
	index       string // 50 if empty
	noUpdate    string // file on the node without which it rejects updates of containers
}

// pluginName is a unique name for a plugin in a namespace: a plugin that reuses a name receives the
// missed events of that name (L18).
func pluginName(name, namespace string) string {
	return name + "-" + strings.TrimPrefix(namespace, "e2e-")
}

// record deploys a recorder, and removes it at the end of the test.
func (c *cluster) record(t testing.TB, name string, o recorderOptions) *recorder {
	t.Helper()
	if o.namespace == "" {
		o.namespace = c.namespace(t)
	}
	r := &recorder{c, o.namespace, pluginName(name, o.namespace)}
	c.onNode(t, "rm", "-f", r.file())
	t.Cleanup(func() {
		if t.Failed() { // go test -artifacts keeps it
			kept := filepath.Join(t.ArtifactDir(), r.name+".jsonl")
			require.NoError(t, os.WriteFile(kept, []byte(c.onNode(t, "cat", r.file())), 0o644))
		}
		c.onNode(t, "rm", "-f", r.file())
	})
	r.deploy(t, o)
	return r
}

// deploy creates its DaemonSet.
func (r *recorder) deploy(t testing.TB, o recorderOptions) {
	t.Helper()
	_, err := r.c.AppsV1().DaemonSets(r.namespace).Create(t.Context(), r.daemonSet(o), metav1.CreateOptions{})
	require.NoError(t, err)
}

// gone deletes its DaemonSet and waits until its pods are gone. Its record stays.
func (r *recorder) gone(t testing.TB) {
	t.Helper()
	background := metav1.DeletePropagationBackground
	require.NoError(t, r.c.AppsV1().DaemonSets(r.namespace).Delete(t.Context(), r.name, metav1.DeleteOptions{PropagationPolicy: &background}))
	eventually(t, later, "plugin "+r.name+" to be gone", func(ctx context.Context) error {
		pods, err := r.c.CoreV1().Pods(r.namespace).List(ctx, metav1.ListOptions{LabelSelector: "plugin=" + r.name})
		if err == nil && len(pods.Items) > 0 {
			err = fmt.Errorf("it has pods %s", names(pods.Items))
		}
		return err
	})
}

// file is the path of its record on each node.
func (r *recorder) file() string { return records + "/" + r.name + ".jsonl" }

func (r *recorder) daemonSet(o recorderOptions) *appsv1.DaemonSet {
	no := false
	labels := map[string]string{"plugin": r.name}
	folder := func(name, path string, kind corev1.HostPathType) corev1.Volume {
		return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: path, Type: &kind}}}
	}
	grace := int64(5)
	d := &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Name: r.name, Namespace: r.namespace},
		Spec: appsv1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{
				AutomountServiceAccountToken:  &no,
				HostNetwork:                   o.hostNetwork,
				TerminationGracePeriodSeconds: &grace,
				Tolerations:                   []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
				Containers: []corev1.Container{{
					Name: "plugin", Image: r.c.image, ImagePullPolicy: corev1.PullIfNotPresent,
					Args: []string{"plugin", "-name", r.name, "-record", r.file(), "-work", o.work.String(), "-late", o.late.String(),
						"-index", cmp.Or(o.index, "50"), "-reject-updates-without", o.noUpdate},
					// It is ready while it is connected.
					ReadinessProbe: &corev1.Probe{
						PeriodSeconds: 1, TimeoutSeconds: 5,
						ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"/program", "ready"}}},
					},
					VolumeMounts: []corev1.VolumeMount{{Name: "nri", MountPath: "/var/run/nri"}, {Name: "records", MountPath: records}},
				}},
				Volumes: []corev1.Volume{
					folder("nri", "/var/run/nri", corev1.HostPathDirectory),
					folder("records", records, corev1.HostPathDirectoryOrCreate),
				},
			}},
		},
	}
	if o.maxSurge {
		one, none := intstr.FromInt32(1), intstr.FromInt32(0)
		d.Spec.UpdateStrategy = appsv1.DaemonSetUpdateStrategy{
			Type:          appsv1.RollingUpdateDaemonSetStrategyType,
			RollingUpdate: &appsv1.RollingUpdateDaemonSet{MaxSurge: &one, MaxUnavailable: &none},
		}
	}
	return d
}

// connected waits until the plugin is connected on all nodes.
func (r *recorder) connected(t testing.TB) {
	t.Helper()
	eventually(t, later, "plugin "+r.name+" to be connected", func(ctx context.Context) error { return r.c.daemonSetReady(ctx, r.namespace, r.name) })
}

// connections counts the plugin's synchronized connections on the worker, past and present.
func (r *recorder) connections(t testing.TB) (n int) {
	t.Helper()
	for _, p := range r.received(t) {
		for _, call := range p.Calls.Only(plugin.Synchronize) {
			if !call.End.IsZero() {
				n++
			}
		}
	}
	return n
}

// restartContainerd restarts containerd, and waits until the plugin is connected again. It counts
// connections: the readiness of its pods changes only after a while.
func (r *recorder) restartContainerd(t testing.TB, signal string) {
	t.Helper()
	before := r.connections(t)
	r.c.restartContainerd(t, signal)
	eventually(t, later, "plugin "+r.name+" to be connected again", func(context.Context) error {
		if n := r.connections(t); n <= before {
			return fmt.Errorf("it had %d connections", n)
		}
		return nil
	})
	r.connected(t)
}

// roll makes the DaemonSet replace its pods, and waits until they are connected.
func (r *recorder) roll(t testing.TB) {
	t.Helper()
	change := fmt.Sprintf(`{"spec":{"template":{"metadata":{"annotations":{"rolled":%q}}}}}`, time.Now())
	_, err := r.c.AppsV1().DaemonSets(r.namespace).Patch(t.Context(), r.name, mergePatch, []byte(change), metav1.PatchOptions{})
	require.NoError(t, err)
	r.connected(t)
}

// received returns the record on the worker.
func (r *recorder) received(t testing.TB) []record.Process {
	t.Helper()
	text := r.c.onNode(t, "cat", r.file())
	processes, err := record.Read([]byte(text))
	require.NoError(t, err)
	return processes
}

// hasEnds waits until the plugin has received the removal of each sandbox that it knew of the pods,
// and of at least one for each pod. The kubelet collects them once a minute.
func (r *recorder) hasEnds(t testing.TB, namespace string, pods map[string]string) {
	t.Helper()
	require.NotEmpty(t, pods)
	eventually(t, collect, "the ends of all pods", func(context.Context) error {
		missing := missingEnds(r.received(t), namespace, pods)
		if len(missing) > 0 {
			return fmt.Errorf("%d of %d pods: %s", len(missing), len(pods), strings.Join(missing, " "))
		}
		return nil
	})
}

// knew returns the pods of a namespace that the plugin received, by UID.
func (r *recorder) knew(t testing.TB, namespace string) map[string]string {
	t.Helper()
	pods := map[string]string{}
	for pod := range sandboxes(r.received(t), namespace) {
		pods[pod.GetUid()] = pod.GetName()
	}
	return pods
}

// sandboxes iterates over the pods of a namespace in all events that processes received.
func sandboxes(processes []record.Process, namespace string) iter.Seq[*api.PodSandbox] {
	return func(yield func(*api.PodSandbox) bool) {
		for _, p := range processes {
			for _, call := range p.Calls {
				for _, pod := range append(slices.Clip(call.Pods), call.Pod) {
					if pod.GetNamespace() == namespace && !yield(pod) {
						return
					}
				}
			}
		}
	}
}

// missingEnds returns the pods, by UID, with a sandbox whose removal the plugin has not answered,
// or without a sandbox that it knew.
func missingEnds(processes []record.Process, namespace string, pods map[string]string) (missing []string) {
	known, ended := map[string]map[string]bool{}, map[string]bool{} // sandboxes by UID, and by ID
	for pod := range sandboxes(processes, namespace) {
		if known[pod.GetUid()] == nil {
			known[pod.GetUid()] = map[string]bool{}
		}
		known[pod.GetUid()][pod.GetId()] = true
	}
	for _, p := range processes {
		for _, call := range p.Calls.Only(plugin.RemovePodSandbox) {
			if !call.End.IsZero() {
				ended[call.Pod.GetId()] = true
			}
		}
	}
	for uid, name := range pods {
		gone := 0
		for id := range known[uid] {
			if ended[id] {
				gone++
			}
		}
		if gone == 0 || gone < len(known[uid]) {
			missing = append(missing, fmt.Sprintf("%s (%d of %d sandboxes)", name, gone, len(known[uid])))
		}
	}
	return missing
}

// requireLawful asserts that each connection keeps L1 to L4, and returns the events about the pods
// of a namespace that all of them received.
func requireLawful(t testing.TB, processes []record.Process, namespace string) plugin.Calls {
	t.Helper()
	var all plugin.Calls
	var earlier []plugin.Calls
	stopped := map[string]time.Time{} // also of earlier processes: a pod that they knew may be removed without a stop
	for _, p := range processes {
		maps.Copy(stopped, p.Stopped())
		for i, connection := range p.Calls.Connections() {
			if len(earlier) > 0 {
				connection = withoutCut(t, connection, earlier)
			}
			require.Empty(t, history.Read(connection, stopped, earlier...).Faults(), "process %s, connection %d", p.ID, i+1)
			earlier = append(earlier, connection)
		}
		for _, call := range p.Calls {
			if call.Pod.GetNamespace() == namespace {
				all = append(all, call)
			}
		}
	}
	return all
}

// withoutCut removes ends of containers that the plugin does not know, since containerd was killed
// while it asked about them: it had recorded the request, which the plugin may not have received.
// Such an end has ids alone, and comes once, in order.
func withoutCut(t testing.TB, connection plugin.Calls, earlier []plugin.Calls) (rest plugin.Calls) {
	t.Helper()
	heard := map[string]bool{}
	for _, call := range slices.Concat(append(slices.Clip(earlier), connection)...) {
		for _, container := range append(slices.Clip(call.Containers), call.Container) {
			if container.GetName() != "" {
				heard[container.GetId()] = true
			}
		}
	}
	ends := map[string][]plugin.Event{}
	for _, call := range connection {
		if id := call.Container.GetId(); id != "" && !heard[id] {
			ends[id] = append(ends[id], call.Event)
		} else {
			rest = append(rest, call)
		}
	}
	// An end that was not answered comes again in the next connection.
	lawful := [][]plugin.Event{{plugin.StopContainer}, {plugin.StopContainer, plugin.RemoveContainer}, {plugin.RemoveContainer}}
	for id, events := range ends {
		require.Contains(t, lawful, events, "container %s, whose creation was interrupted", id)
		t.Logf("the creation of container %s was interrupted before the plugin received it", id)
	}
	return rest
}

// times counts an event by the UID of its pod.
func times(calls plugin.Calls, event plugin.Event) map[string]int {
	count := map[string]int{}
	for _, call := range calls.Only(event) {
		count[call.Pod.GetUid()]++
	}
	return count
}

// requireWholeLives asserts that the plugin received begin and end of each pod once.
func requireWholeLives(t testing.TB, calls plugin.Calls, pods map[string]string) {
	t.Helper()
	require.NotEmpty(t, pods)
	for _, event := range []plugin.Event{plugin.RunPodSandbox, plugin.StopPodSandbox, plugin.RemovePodSandbox} {
		count := times(calls, event)
		var wrong []string
		for uid, name := range pods {
			if count[uid] != 1 {
				wrong = append(wrong, fmt.Sprintf("%s: %d", name, count[uid]))
			}
		}
		require.Empty(t, wrong, "%s was not received once: %s", event, strings.Join(wrong, ", "))
	}
}
