// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/watch"
)

const mergePatch = types.StrategicMergePatchType

// template is a pod of the tests on the worker: it waits, and has a short grace period.
func (c *cluster) template(labels map[string]string) corev1.PodTemplateSpec {
	no, grace := false, int64(5)
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: labels},
		Spec: corev1.PodSpec{
			AutomountServiceAccountToken:  &no,
			TerminationGracePeriodSeconds: &grace,
			NodeSelector:                  map[string]string{corev1.LabelHostname: c.worker},
			Containers:                    []corev1.Container{c.waits("main")},
		},
	}
}

// waits is a container that waits for SIGTERM.
func (c *cluster) waits(name string, args ...string) corev1.Container {
	return corev1.Container{Name: name, Image: c.image, ImagePullPolicy: corev1.PullIfNotPresent, Args: append([]string{"wait"}, args...)}
}

// pod creates a pod, after change.
func (c *cluster) pod(t testing.TB, namespace, name string, change func(*corev1.Pod)) *corev1.Pod {
	t.Helper()
	template := c.template(nil)
	p := &corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec}
	p.Name = name
	if change != nil {
		change(p)
	}
	p, err := c.CoreV1().Pods(namespace).Create(t.Context(), p, metav1.CreateOptions{})
	require.NoError(t, err)
	return p
}

// annotated creates a pod with an annotation.
func (c *cluster) annotated(t testing.TB, namespace, name, key, value string) *corev1.Pod {
	return c.pod(t, namespace, name, func(p *corev1.Pod) { p.Annotations = map[string]string{key: value} })
}

// podReady waits until a pod is ready, and returns it.
func (c *cluster) podReady(t testing.TB, namespace, name string) *corev1.Pod {
	t.Helper()
	var pod *corev1.Pod
	eventually(t, later, "pod "+name+" to be ready", func(ctx context.Context) (err error) {
		pod, err = c.CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{})
		if err == nil && !isReady(*pod) {
			err = fmt.Errorf("it is %s", pod.Status.Phase)
		}
		return err
	})
	return pod
}

func isReady(p corev1.Pod) bool {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// podGone deletes a pod and waits until it is gone.
func (c *cluster) podGone(t testing.TB, namespace, name string, within time.Duration) {
	t.Helper()
	require.NoError(t, c.CoreV1().Pods(namespace).Delete(t.Context(), name, metav1.DeleteOptions{}))
	eventually(t, within, "the end of pod "+name, func(ctx context.Context) error {
		p, err := c.CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		if err == nil {
			err = fmt.Errorf("it is %s", p.Status.Phase)
		}
		return err
	})
}

// deployment creates a Deployment on the worker.
func (c *cluster) deployment(t testing.TB, namespace, name string, replicas int32) {
	t.Helper()
	labels := map[string]string{"app": name}
	quarter := intstr.FromString("25%")
	_, err := c.AppsV1().Deployments(namespace).Create(t.Context(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: c.template(labels),
			Strategy: appsv1.DeploymentStrategy{
				Type:          appsv1.RollingUpdateDeploymentStrategyType,
				RollingUpdate: &appsv1.RollingUpdateDeployment{MaxSurge: &quarter, MaxUnavailable: &quarter},
			},
		},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
}

// scale sets the replicas of a Deployment.
func (c *cluster) scale(t testing.TB, namespace, name string, replicas int32) {
	t.Helper()
	_, err := c.AppsV1().Deployments(namespace).Patch(t.Context(), name, mergePatch, fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas), metav1.PatchOptions{})
	require.NoError(t, err)
}

// update rolls a Deployment over.
func (c *cluster) update(t testing.TB, namespace, name string) {
	t.Helper()
	change := fmt.Sprintf(`{"spec":{"template":{"metadata":{"annotations":{"rolled":%q}}}}}`, time.Now())
	_, err := c.AppsV1().Deployments(namespace).Patch(t.Context(), name, mergePatch, []byte(change), metav1.PatchOptions{})
	require.NoError(t, err)
}

// rolledOut waits until a Deployment has exactly its pods, and returns how long that took.
func (c *cluster) rolledOut(t testing.TB, namespace, name string) time.Duration {
	t.Helper()
	start := time.Now()
	eventually(t, collect, "the rollout of "+name, func(ctx context.Context) error {
		d, err := c.AppsV1().Deployments(namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		s, want := d.Status, *d.Spec.Replicas
		if s.ObservedGeneration < d.Generation || s.UpdatedReplicas != want || s.ReadyReplicas != want || s.Replicas != want {
			return fmt.Errorf("%d of %d pods are ready, %d are up to date, %d in all", s.ReadyReplicas, want, s.UpdatedReplicas, s.Replicas)
		}
		pods, err := c.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{LabelSelector: "app=" + name})
		if err == nil && len(pods.Items) != int(want) {
			err = fmt.Errorf("%d pods exist, %d are wanted", len(pods.Items), want)
		}
		return err
	})
	return time.Since(start)
}

// seen records the pods of a namespace, by UID.
type seen struct {
	mu   sync.Mutex // guards pods
	pods map[string]string
}

// all waits until the watch, which lags behind, has shown at least so many pods.
func (s *seen) all(t testing.TB, least int) (all map[string]string) {
	t.Helper()
	eventually(t, soon, "the watch of the pods", func(context.Context) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		if all = maps.Clone(s.pods); len(all) < least {
			return fmt.Errorf("it has shown %d of %d", len(all), least)
		}
		return nil
	})
	return all
}

// watchPods records each pod of a namespace that runs on the worker, until the test ends.
func (c *cluster) watchPods(t testing.TB, namespace string) *seen {
	t.Helper()
	s := &seen{pods: map[string]string{}}
	w, err := c.CoreV1().Pods(namespace).Watch(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for event := range w.ResultChan() {
			pod, ok := event.Object.(*corev1.Pod)
			if ok && event.Type != watch.Deleted && isReady(*pod) {
				s.mu.Lock()
				s.pods[string(pod.UID)] = pod.Name
				s.mu.Unlock()
			}
		}
	}()
	t.Cleanup(func() { w.Stop(); <-done })
	return s
}

// event waits for an event of an object whose message holds all words.
func (c *cluster) event(t testing.TB, namespace, object, reason string, words ...string) {
	t.Helper()
	eventually(t, later, fmt.Sprintf("event %s of %s with %q", reason, object, words), func(ctx context.Context) error {
		events, err := c.CoreV1().Events(namespace).List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.name=" + object})
		if err != nil {
			return err
		}
		var others []string
		for _, e := range events.Items {
			if e.Reason == reason && containsAll(e.Message, words) {
				t.Logf("%s %s: %s", e.Type, e.Reason, e.Message)
				return nil
			}
			others = append(others, e.Reason+": "+e.Message)
		}
		return fmt.Errorf("its events are: %s", strings.Join(others, "; "))
	})
}

func containsAll(text string, words []string) bool {
	for _, w := range words {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}
