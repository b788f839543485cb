// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/remotecommand"

	"github.com/hookline-nri/hookline/testkit/wait"
)

// Deadlines, for machines that also do other work.
const (
	soon    = 2 * time.Minute // for operations of seconds
	later   = 5 * time.Minute // for a back-off of the kubelet
	collect = 8 * time.Minute // for the kubelet's garbage collection
)

// system is the namespace of the tests' own agents on the nodes.
const system = "hookline-e2e"

// cluster is the cluster, and the node that tests act on.
type cluster struct {
	kubernetes.Interface
	config *rest.Config
	worker string
	image  string
	known  string // counts of containerd's objects on the worker before the tests
}

var connect = sync.OnceValues(newCluster)

// onCluster returns the cluster, or skips the test without one.
func onCluster(t testing.TB) *cluster {
	t.Helper()
	if os.Getenv("HOOKLINE_KUBECONFIG") == "" {
		lacks(t, "a cluster: make e2e makes one, HOOKLINE_KUBECONFIG names one")
	}
	c, err := connect()
	require.NoError(t, err)
	return c
}

// lacks skips a test that lacks something. In CI the test fails.
func lacks(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal("this test needs " + what)
	}
	t.Skip("this test needs " + what)
}

func newCluster() (*cluster, error) {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("HOOKLINE_KUBECONFIG"))
	if err != nil {
		return nil, err
	}
	config.QPS, config.Burst = 100, 200
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	c := &cluster{Interface: client, config: config, image: os.Getenv("HOOKLINE_E2E_IMAGE")}
	if c.image == "" {
		c.image = "localhost/hookline/e2e:dev"
	}
	ctx, cancel := context.WithTimeout(context.Background(), later)
	defer cancel()
	if c.worker, err = c.findWorker(ctx); err != nil {
		return nil, err
	}
	err = c.startAgents(ctx)
	if err == nil {
		_, err = c.settled(ctx)
	}
	if err == nil {
		c.known, err = c.count(ctx, known)
	}
	if err != nil {
		return nil, errors.Join(err, c.endNamespace(system, later))
	}
	return c, nil
}

// findWorker finds the first node that takes any pod.
func (c *cluster) findWorker(ctx context.Context) (string, error) {
	nodes, err := c.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return "", err
	}
	for _, n := range nodes.Items {
		if !strings.Contains(n.Status.NodeInfo.ContainerRuntimeVersion, "hookline") {
			return "", fmt.Errorf("node %s runs %s", n.Name, n.Status.NodeInfo.ContainerRuntimeVersion)
		}
	}
	for _, n := range nodes.Items {
		if len(n.Spec.Taints) == 0 && !n.Spec.Unschedulable {
			return n.Name, nil
		}
	}
	return "", errors.New("no node takes pods")
}

// TestMain checks after all tests that nothing is left, and removes their files from the nodes.
func TestMain(m *testing.M) {
	code := m.Run()
	if os.Getenv("HOOKLINE_KUBECONFIG") != "" {
		if c, err := connect(); err == nil {
			if err := c.end(); err != nil {
				fmt.Fprintln(os.Stderr, "after the tests:", err)
				code = max(code, 1)
			}
		}
	}
	os.Exit(code)
}

// end waits until the kubelet has collected all pods of the tests, and removes records and agents.
func (c *cluster) end() error {
	ctx, cancel := context.WithTimeout(context.Background(), collect)
	defer cancel()
	return errors.Join(c.noMore(ctx, known, c.known), c.onNodes("rm", "-rf", records), c.endNamespace(system, later))
}

// eventually waits until a condition holds.
func eventually(t testing.TB, within time.Duration, what string, holds func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), within) // usable in a test's cleanup, too
	defer cancel()
	require.NoError(t, wait.Until(ctx, what, slowly(holds)))
}

// slowly checks a condition at intervals, to spare the server.
func slowly(holds func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		err := holds(ctx)
		if err != nil {
			select {
			case <-ctx.Done():
			case <-time.After(100 * time.Millisecond):
			}
		}
		return err
	}
}

// namespace makes a namespace for a test, and deletes it after the test.
func (c *cluster) namespace(t testing.TB) string {
	t.Helper()
	ns, err := c.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "e2e-"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	t.Cleanup(func() { c.deleteNamespace(t, ns.Name, collect) })
	return ns.Name
}

// deleteNamespace deletes a namespace and waits until it is gone.
func (c *cluster) deleteNamespace(t testing.TB, name string, within time.Duration) {
	t.Helper()
	require.NoError(t, c.endNamespace(name, within))
}

func (c *cluster) endNamespace(name string, within time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	return wait.Until(ctx, "the end of namespace "+name, slowly(func(ctx context.Context) error {
		ns, err := c.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return err
		}
		if ns.DeletionTimestamp == nil {
			if err := c.CoreV1().Namespaces().Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
				return err
			}
		}
		pods, err := c.CoreV1().Pods(name).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		return fmt.Errorf("it has %d pods: %s", len(pods.Items), names(pods.Items))
	}))
}

func names(pods []corev1.Pod) string {
	var list []string
	for _, p := range pods {
		list = append(list, p.Name)
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

// exec runs a command in a container of a pod.
func (c *cluster) exec(ctx context.Context, namespace, pod string, command ...string) (string, error) {
	request := c.CoreV1().RESTClient().Post().Resource("pods").Namespace(namespace).Name(pod).SubResource("exec").
		VersionedParams(&corev1.PodExecOptions{Command: command, Stdout: true, Stderr: true}, scheme.ParameterCodec)
	stream, err := remotecommand.NewSPDYExecutor(c.config, "POST", request.URL())
	if err != nil {
		return "", err
	}
	var stdout, stderr bytes.Buffer
	if err := stream.StreamWithContext(ctx, remotecommand.StreamOptions{Stdout: &stdout, Stderr: &stderr}); err != nil {
		return stdout.String(), fmt.Errorf("%s: %w: %s", strings.Join(command, " "), err, strings.TrimSpace(stderr.String()))
	}
	return stdout.String(), nil
}
