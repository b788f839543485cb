// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// stockFolder is where make e2e puts the unpatched containerd on a node.
const stockFolder = "/opt/stock/bin"

// dropIn is the file by which systemd is pointed at other binaries, as docs/operating/install.md says.
const dropIn = "/run/systemd/system/containerd.service.d/hookline-e2e.conf"

// The folder of an installed build on a node, and the file that points systemd at it.
const (
	installed       = "/opt/hookline/bin"
	installedDropIn = "/etc/systemd/system/containerd.service.d/hookline.conf"
)

// haveStock skips a test if the nodes do not have the unpatched containerd, or it could start no pods there.
func (c *cluster) haveStock(t testing.TB) {
	t.Helper()
	if c.byPlugin(t) {
		t.Skip("the unpatched containerd gives pods no network without CNI")
	}
	if out := c.onNode(t, "sh", "-c", "ls "+stockFolder+" 2>/dev/null || true"); !strings.Contains(out, "containerd") {
		lacks(t, "a stock containerd on the nodes, in "+stockFolder)
	}
}

// move switches the worker to the stock binaries, or back to its own.
func (c *cluster) move(t testing.TB, stock bool) {
	t.Helper()
	before := c.containerdPID(t)
	if stock {
		c.write(t, dropIn, "[Service]\nExecStart=\nExecStart="+stockFolder+"/containerd\n"+
			"Environment=PATH="+stockFolder+":/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\n")
	} else {
		c.onNode(t, "rm", "-f", dropIn)
	}
	c.startAgain(t, before, stock)
}

// startAgain makes systemd replace the running containerd with the one that its files name now.
func (c *cluster) startAgain(t testing.TB, before string, stock bool) {
	t.Helper()
	c.onNode(t, "systemctl", "daemon-reload")
	c.newContainerd(t, before, restart...)
	eventually(t, later, "the kubelet to see it", func(ctx context.Context) error {
		n, err := c.CoreV1().Nodes().Get(ctx, c.worker, metav1.GetOptions{})
		if err == nil && strings.Contains(n.Status.NodeInfo.ContainerRuntimeVersion, "stock") != stock {
			err = fmt.Errorf("it shows %s", n.Status.NodeInfo.ContainerRuntimeVersion)
		}
		return err
	})
}

// A worker moves from hookline to stock and back in place: no pod restarts, and pods from before a
// move end after it.
func TestL23_WorkerMovesToStockAndBackWithPodsRunning(t *testing.T) {
	c := onCluster(t)
	c.haveStock(t)
	c.nothingLeft(t)
	t.Cleanup(func() { c.move(t, false); c.ready(t) })
	ns := c.namespace(t)
	var pods []*corev1.Pod
	create := func(names ...string) {
		for _, name := range names {
			c.pod(t, ns, name, nil)
			pods = append(pods, c.podReady(t, ns, name))
		}
	}
	untouched := func() {
		for _, p := range pods {
			c.requireUntouched(t, p)
		}
	}
	end := func() { // the oldest
		c.podGone(t, ns, pods[0].Name, soon)
		pods = pods[1:]
	}

	create("a", "b", "c")
	c.move(t, true)
	untouched()
	create("d", "e")
	end()
	c.move(t, false)
	untouched()
	create("f")
	end()
	end()
	end()
	untouched()
	require.Len(t, pods, 2)
	c.ready(t)
}

// A build is installed beside the containerd of the node, and uninstalled again, with pods running:
// none restarts. The binaries that they use stay until they have ended.
func TestL23_NodeTakesABuildAndGivesItBack(t *testing.T) {
	c := onCluster(t)
	c.haveStock(t)
	c.nothingLeft(t)
	t.Cleanup(func() {
		c.onNode(t, "rm", "-rf", installedDropIn, installed)
		c.move(t, false)
		c.ready(t)
	})
	ns := c.namespace(t)
	c.move(t, true) // the distribution's
	c.pod(t, ns, "of-stock", nil)
	ofStock := c.podReady(t, ns, "of-stock")

	before := c.containerdPID(t)
	t.Log(c.program(t, "install", "/usr/local/bin"))
	c.startAgain(t, before, false)
	require.Equal(t, installed+"/containerd", strings.TrimSpace(c.onNode(t, "readlink", "/proc/"+c.containerdPID(t)+"/exe")))
	c.requireUntouched(t, ofStock)
	c.pod(t, ns, "of-the-build", nil)
	ofTheBuild := c.podReady(t, ns, "of-the-build")
	c.podGone(t, ns, "of-stock", soon)

	before = c.containerdPID(t)
	require.Contains(t, c.program(t, "uninstall"), "kept", "the shim of a pod runs from there")
	c.startAgain(t, before, true)
	c.requireUntouched(t, ofTheBuild)
	c.podGone(t, ns, "of-the-build", soon)
	eventually(t, soon, "nothing to be left", func(ctx context.Context) error {
		if out := c.program(t, "uninstall"); out != "" {
			return errors.New(out)
		}
		_, err := c.try(ctx, "test", "!", "-e", installed)
		return err
	})
}
