// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hookline-nri/hookline/testkit/wait"
)

// netConf is the folder of the networks' configurations on a node.
const netConf = "/etc/cni/net.d"

// chained is the program as a CNI plugin on a node.
const chained = "/opt/cni/bin/hookline-e2e"

// byPlugin reports whether pods have their network of an NRI plugin: the worker has no CNI configuration.
func (c *cluster) byPlugin(t testing.TB) bool {
	t.Helper()
	return c.onNode(t, "sh", "-c", "ls -A "+netConf) == ""
}

// network returns the configuration of the worker's network: its file and its text. It skips the test on a
// cluster without CNI.
func (c *cluster) network(t testing.TB) (file, text string) {
	t.Helper()
	if c.byPlugin(t) {
		t.Skip("this test is of CNI, and here a plugin gives pods their network")
	}
	files := strings.Fields(c.onNode(t, "sh", "-c", "ls "+netConf+"/*.conflist"))
	require.NotEmpty(t, files)
	return files[0], c.onNode(t, "cat", files[0])
}

// chainStatus adds a plugin to the end of the worker's network; says sets its answer to STATUS. The
// network is restored after the test; the plugin stays for the ends of pods.
func (c *cluster) chainStatus(t testing.TB) (says func(answer string)) {
	t.Helper()
	file, text := c.network(t)
	// The program is copied to the node from the agent's own file system.
	c.onNode(t, "sh", "-c", `for p in $(pgrep -x program); do cp /proc/$p/exe "$1" && chmod 755 "$1" && exit; done; exit 1`, "sh", chained)
	var config map[string]any
	require.NoError(t, json.Unmarshal([]byte(text), &config))
	config["cniVersion"] = "1.1.0"
	config["plugins"] = append(config["plugins"].([]any), map[string]string{"type": path.Base(chained)})
	changed, err := json.Marshal(config)
	require.NoError(t, err)
	t.Cleanup(func() {
		c.onNode(t, "rm", "-rf", "/run/hookline-e2e")
		c.swap(t, file, text)
		c.ready(t)
	})
	c.swap(t, file, string(changed))
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

// While the network's STATUS fails, the node is not ready and says why; no pods are scheduled to
// it, and pods on the host's network run. When STATUS succeeds again, the node is ready.
func TestN1_NodeSaysWhyItsNetworkTakesNoPods(t *testing.T) {
	c := onCluster(t)
	c.nothingLeft(t)
	t.Cleanup(func() { c.onNode(t, "rm", "-f", chained) }) // after the pods
	ns := c.namespace(t)
	c.pod(t, ns, "before", nil)
	c.podReady(t, ns, "before")
	says := c.chainStatus(t)
	c.ready(t)
	says(`{"cniVersion":"1.1.0","code":50,"msg":"the agent has no addresses"}`)
	c.notReady(t, "NetworkNotAvailable", "the agent has no addresses")
	// The scheduler uses the taint, which is set after the condition.
	eventually(t, later, "the node to have a taint", func(ctx context.Context) error {
		n, err := c.CoreV1().Nodes().Get(ctx, c.worker, metav1.GetOptions{})
		if err == nil && !slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool {
			return t.Key == corev1.TaintNodeNotReady && t.Effect == corev1.TaintEffectNoSchedule
		}) {
			err = fmt.Errorf("it has taints: %v", n.Spec.Taints)
		}
		return err
	})

	c.pod(t, ns, "waits", nil)
	c.pod(t, ns, "on-host", func(p *corev1.Pod) {
		p.Spec.HostNetwork = true
		p.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	})
	c.podReady(t, ns, "on-host")
	eventually(t, soon, "the scheduler to find no node", func(ctx context.Context) error {
		waits, err := c.CoreV1().Pods(ns).Get(ctx, "waits", metav1.GetOptions{})
		if err != nil {
			return err
		}
		if waits.Spec.NodeName != "" {
			return fmt.Errorf("%w: it was scheduled to %s, which is not ready", wait.ErrPermanent, waits.Spec.NodeName)
		}
		if !slices.ContainsFunc(waits.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable
		}) {
			return errors.New("the scheduler has not tried yet")
		}
		return nil
	})

	says("")
	c.ready(t)
	c.podReady(t, ns, "waits")
}

// Pods end though the network's configuration was removed while they ran.
func TestN3_PodsEndThoughTheNetworkIsRemovedMeanwhile(t *testing.T) {
	c := onCluster(t)
	c.nothingLeft(t)
	ns := c.namespace(t)
	c.deployment(t, ns, "web", 8)
	c.rolledOut(t, ns, "web")
	file, text := c.network(t)
	t.Cleanup(func() { c.swap(t, file, text); c.ready(t) })
	c.onNode(t, "rm", "-f", file)
	c.notReady(t)
	require.NoError(t, c.AppsV1().Deployments(ns).Delete(t.Context(), "web", metav1.DeleteOptions{}))
	eventually(t, later, "the end of the pods", func(ctx context.Context) error {
		pods, err := c.CoreV1().Pods(ns).List(ctx, metav1.ListOptions{})
		if err == nil && len(pods.Items) > 0 {
			err = fmt.Errorf("these exist: %s", names(pods.Items))
		}
		return err
	})
}
