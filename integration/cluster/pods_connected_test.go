// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// port is where pods of the tests serve their names.
const port = 8080

// served are a pod of each node that serves its name, and their service.
type served struct {
	pods    []corev1.Pod
	service *corev1.Service
}

// serves starts a pod on each node, and a service of all of them. The kubelet's probe reaches them.
func (c *cluster) serves(t testing.TB, ns string) served {
	t.Helper()
	labels := map[string]string{"app": "serves"}
	families := corev1.IPFamilyPolicyPreferDualStack
	service, err := c.CoreV1().Services(ns).Create(t.Context(), &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "serves"},
		Spec:       corev1.ServiceSpec{Selector: labels, IPFamilyPolicy: &families, Ports: []corev1.ServicePort{{Port: port}}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	nodes, err := c.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	s := served{service: service}
	for i, n := range nodes.Items {
		name := fmt.Sprintf("serves-%d", i)
		c.pod(t, ns, name, func(p *corev1.Pod) {
			p.Labels = labels
			p.Spec.NodeSelector = map[string]string{corev1.LabelHostname: n.Name}
			p.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
			p.Spec.Containers[0].Args = []string{"serve", fmt.Sprint(port)}
			p.Spec.Containers[0].ReadinessProbe = &corev1.Probe{
				ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(port)}},
			}
		})
		s.pods = append(s.pods, *c.podReady(t, ns, name))
	}
	return s
}

// requireConnected checks that each pod receives the name of each other and its own at the addresses of the
// pods, and all names at those of the service.
func (c *cluster) requireConnected(t testing.TB, s served) {
	t.Helper()
	for _, from := range s.pods {
		for _, to := range s.pods {
			require.Len(t, to.Status.PodIPs, len(s.service.Spec.ClusterIPs))
			for _, ip := range to.Status.PodIPs {
				c.requireNames(t, from, ip.IP, to.Name)
			}
		}
		for _, ip := range s.service.Spec.ClusterIPs {
			c.requireNames(t, from, ip, names(s.pods))
		}
	}
}

// requireNames waits until a pod has received all names at an address, and checks that it receives no other.
func (c *cluster) requireNames(t testing.TB, from corev1.Pod, ip, want string) {
	t.Helper()
	missing := map[string]bool{}
	for _, name := range strings.Fields(want) {
		missing[name] = true
	}
	eventually(t, soon, fmt.Sprintf("%s to receive %s at %s", from.Name, want, ip), func(ctx context.Context) error {
		got, err := c.exec(ctx, from.Namespace, from.Name, "/program", "get", net.JoinHostPort(ip, fmt.Sprint(port)))
		if err != nil {
			return err
		}
		assert.Contains(t, strings.Fields(want), got)
		if delete(missing, got); len(missing) > 0 {
			return fmt.Errorf("it has not received %v", missing)
		}
		return nil
	})
}

// Pods of both nodes reach each other and a service, in each family of the cluster. Whether CNI or a plugin
// gave them their network makes no difference.
func TestN5_PodsReachEachOtherAndServices(t *testing.T) {
	c := onCluster(t)
	c.nothingLeft(t)
	s := c.serves(t, c.namespace(t))
	if c.byPlugin(t) {
		require.Len(t, s.service.Spec.ClusterIPs, 2, "the cluster has two families")
	}
	c.requireConnected(t, s)
}

// onPlugin returns a cluster whose pods have their network of the example plugin. It skips the test on another.
func onPlugin(t *testing.T) *cluster {
	t.Helper()
	c := onCluster(t)
	if !c.byPlugin(t) {
		t.Skip("this test is of a network that a plugin gives, and here pods have CNI: make e2e NETWORK=bridge")
	}
	return c
}

// The plugin that gives pods their network is killed, and containerd too. Pods keep their network, those that
// end meanwhile are undone, and new ones wait for the plugin.
func TestN6_PluginIsKilledWithContainerd(t *testing.T) {
	c := onPlugin(t)
	c.nothingLeft(t)
	ns := c.namespace(t)
	c.deployment(t, ns, "web", 4)
	c.rolledOut(t, ns, "web")
	s := c.serves(t, ns)
	// The kubelet keeps the last container of the plugin that was killed.
	t.Cleanup(func() { c.onNode(t, "sh", "-c", "crictl ps -aq --state exited --name '^bridge$' | xargs -r crictl rm") })
	for range 3 {
		c.onNode(t, "pkill", "-KILL", "-x", "bridge")
		c.restartContainerd(t, "KILL")
		c.scale(t, ns, "web", 1)
		c.rolledOut(t, ns, "web")
		c.scale(t, ns, "web", 4)
		c.rolledOut(t, ns, "web")
	}
	for _, p := range s.pods {
		c.requireUntouched(t, &p)
	}
	c.requireConnected(t, s)
}

// While the plugin says that its network takes no pods, the node is not ready and says why. Pods on the host's
// network run, and pods of before are connected again when the network is.
func TestN7_NodeSaysWhyThePluginTakesNoPods(t *testing.T) {
	c := onPlugin(t)
	c.nothingLeft(t)
	ns := c.namespace(t)
	s := c.serves(t, ns)
	t.Cleanup(func() { c.onNode(t, "ip", "link", "set", "bridge0", "up"); c.ready(t) })
	c.onNode(t, "ip", "link", "set", "bridge0", "down")
	c.notReady(t, "plugin bridge takes no pods: the bridge is down (code 51)")
	always := []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	c.pod(t, ns, "waits", func(p *corev1.Pod) { p.Spec.Tolerations = always })
	c.pod(t, ns, "on-host", func(p *corev1.Pod) { p.Spec.HostNetwork, p.Spec.Tolerations = true, always })
	c.podReady(t, ns, "on-host")
	c.event(t, ns, "waits", "NetworkNotReady", "the bridge is down")
	waits, err := c.CoreV1().Pods(ns).Get(t.Context(), "waits", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, corev1.PodPending, waits.Status.Phase)

	c.onNode(t, "ip", "link", "set", "bridge0", "up")
	c.ready(t)
	c.podReady(t, ns, "waits")
	c.requireConnected(t, s)
}
