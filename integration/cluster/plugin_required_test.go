// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// settings adds settings to the worker's containerd, in an imported file, until the test ends.
func (c *cluster) settings(t testing.TB, text string) {
	t.Helper()
	// The folder may be the host's, shared by nodes: the file is mounted over in this node alone.
	const more = "/etc/containerd/hookline-e2e.toml"
	const config = "/etc/containerd/config.toml"
	before := c.onNode(t, "cat", config)
	t.Cleanup(func() {
		c.swap(t, config, before)
		c.onNode(t, "rm", "-f", more)
		c.restartContainerd(t, "TERM")
		c.ready(t)
	})
	c.write(t, more, "version = 3\n"+text)
	c.onNode(t, "sed", "-i", fmt.Sprintf(`s,^imports = \[,&"%s"\, ,`, more), config)
	require.Contains(t, c.onNode(t, "cat", config), more, "containerd's configuration has imports")
	c.restartContainerd(t, "TERM")
}

// Pods wait for a disconnected required plugin, and say so. The plugin's own DaemonSet starts on
// the node without it; then the pods start.
func TestL20_RequiredPluginBootstrapsOnANode(t *testing.T) {
	c := onCluster(t)
	c.nothingLeft(t)
	own, ns := c.namespace(t), c.namespace(t)
	c.settings(t, fmt.Sprintf(`
[plugins."io.containerd.nri.v1.nri".plugins.%s]
  required_for = ["pods"]
  exempt_namespaces = [%q, %q, "kube-system"]
  wait = "2s"
`, pluginName("keeper", own), own, system))
	c.ready(t)
	c.pod(t, ns, "waits", nil)
	c.event(t, ns, "waits", "FailedCreatePodSandBox", "keeper")
	pod, err := c.CoreV1().Pods(ns).Get(t.Context(), "waits", metav1.GetOptions{})
	require.NoError(t, err)
	require.False(t, isReady(*pod))

	keeper := c.record(t, "keeper", recorderOptions{namespace: own})
	keeper.connected(t)
	ready := c.podReady(t, ns, "waits")
	require.Equal(t, 1, times(requireLawful(t, keeper.received(t), ns), "RunPodSandbox")[string(ready.UID)], "it started with the plugin's answer")
	c.podGone(t, ns, "waits", soon)
}

// A required plugin gates the network: while it is disconnected, the node is NotReady and names it.
// The plugin's DaemonSet, on the host's network, starts there, and the node becomes ready.
func TestL20_PluginThatGatesTheNetworkBootstrapsOnANode(t *testing.T) {
	c := onCluster(t)
	c.nothingLeft(t)
	own, ns := c.namespace(t), c.namespace(t)
	c.settings(t, fmt.Sprintf(`
[plugins."io.containerd.nri.v1.nri".plugins.%s]
  required_for = ["pods"]
  exempt_namespaces = [%q]
  wait = "5s"
  gates_network = true
  network_grace = "30s"
`, pluginName("driver", own), own))
	c.notReady(t, "NRIPluginDisconnected", "driver")
	driver := c.record(t, "driver", recorderOptions{namespace: own, hostNetwork: true, late: time.Second})
	driver.connected(t)
	c.ready(t)
	c.pod(t, ns, "comes", nil)
	c.podReady(t, ns, "comes")
	c.podGone(t, ns, "comes", soon)
}
