// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// netConf is the folder of the networks' configurations on a node.
const netConf = "/etc/cni/net.d"

// network is the configuration of the worker's network: its file and its text.
func (c *cluster) network(t testing.TB) (file, text string) {
	t.Helper()
	files := strings.Fields(c.onNode(t, "sh", "-c", "ls "+netConf+"/*.conflist"))
	require.NotEmpty(t, files)
	return files[0], c.onNode(t, "cat", files[0])
}

// chainStatus puts a plugin behind those of the worker's network, whose STATUS is what says
// returns. The network is as it was when the test is over.
func (c *cluster) chainStatus(t testing.TB) (says func(answer string)) {
	t.Helper()
	file, text := c.network(t)
	// The program goes to the node by way of the agent's own file system.
	c.onNode(t, "sh", "-c", `for p in $(pgrep -x program); do cp /proc/$p/exe /opt/cni/bin/hookline-e2e && chmod 755 /opt/cni/bin/hookline-e2e && exit; done; exit 1`)
	var config map[string]any
	require.NoError(t, json.Unmarshal([]byte(text), &config))
	config["cniVersion"] = "1.1.0"
	config["plugins"] = append(config["plugins"].([]any), map[string]string{"type": "hookline-e2e"})
	chained, err := json.Marshal(config)
	require.NoError(t, err)
	t.Cleanup(func() {
		c.onNode(t, "rm", "-rf", "/run/hookline-e2e")
		c.swap(t, file, text)
		c.ready(t)
	})
	c.swap(t, file, string(chained))
	return func(answer string) {
		if answer == "" {
			c.onNode(t, "rm", "-rf", "/run/hookline-e2e")
			return
		}
		c.swap(t, "/run/hookline-e2e/status", answer)
	}
}

// swap replaces a file on the worker in one step: another process may read it at any time.
func (c *cluster) swap(t testing.TB, file, text string) {
	t.Helper()
	fresh := path.Dir(file) + "/." + path.Base(file) + ".new"
	c.write(t, fresh, text)
	c.onNode(t, "sh", "-c", `[ ! -e "$1" ] || mv "$1" "$2"`, "sh", fresh, file)
}

// While the network's STATUS fails the node is not ready and says why; pods are not sent there
// and pods on the host's network run. It comes back.
func TestN1_NodeSaysWhyItsNetworkTakesNoPods(t *testing.T) {
	c := onCluster(t)
	c.nothingLeft(t)
	ns := c.namespace(t)
	c.pod(t, ns, "before", nil)
	c.podReady(t, ns, "before")
	says := c.chainStatus(t)
	c.ready(t)
	says(`{"cniVersion":"1.1.0","code":50,"msg":"the agent has no addresses"}`)
	eventually(t, later, "the node to be NotReady", func(ctx context.Context) error {
		condition, err := c.condition(ctx, corev1.NodeReady)
		if err != nil {
			return err
		}
		if condition.Status == corev1.ConditionTrue || !containsAll(condition.Message, []string{"NetworkNotAvailable", "the agent has no addresses"}) {
			return fmt.Errorf("it is Ready=%s: %s: %s", condition.Status, condition.Reason, condition.Message)
		}
		t.Logf("Ready=%s, %s: %s", condition.Status, condition.Reason, condition.Message)
		return nil
	})

	c.pod(t, ns, "waits", nil)
	c.pod(t, ns, "on-host", func(p *corev1.Pod) {
		p.Spec.HostNetwork = true
		p.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	})
	c.podReady(t, ns, "on-host")
	waits, err := c.CoreV1().Pods(ns).Get(t.Context(), "waits", metav1.GetOptions{})
	require.NoError(t, err)
	require.Empty(t, waits.Spec.NodeName, "no pod is sent to a node that is not ready")

	says("")
	c.ready(t)
	c.podReady(t, ns, "waits")
}

// Pods end though the network's configuration was removed while they were deleted.
func TestN3_PodsEndThoughTheNetworkIsRemovedMeanwhile(t *testing.T) {
	c := onCluster(t)
	c.nothingLeft(t)
	ns := c.namespace(t)
	c.deployment(t, ns, "web", 8)
	c.rolledOut(t, ns, "web")
	file, text := c.network(t)
	t.Cleanup(func() { c.swap(t, file, text); c.ready(t) })
	require.NoError(t, c.AppsV1().Deployments(ns).Delete(t.Context(), "web", metav1.DeleteOptions{}))
	c.onNode(t, "rm", file)
	eventually(t, later, "the end of the pods", func(ctx context.Context) error {
		pods, err := c.CoreV1().Pods(ns).List(ctx, metav1.ListOptions{})
		if err == nil && len(pods.Items) > 0 {
			err = fmt.Errorf("there are %s", names(pods.Items))
		}
		return err
	})
}
