// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hookline-nri/hookline/testkit/wait"
)

// startAgents starts a privileged pod on each node, through which tests run commands there.
func (c *cluster) startAgents(ctx context.Context) error {
	_, err := c.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: system}}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	labels := map[string]string{"app": "agent"}
	privileged, no := true, false
	agents := &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Name: "agent", Namespace: system},
		Spec: appsv1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{
				HostPID: true, HostNetwork: true,
				AutomountServiceAccountToken: &no,
				PriorityClassName:            "system-node-critical",
				Tolerations:                  []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
				Containers: []corev1.Container{{
					Name: "agent", Image: c.image, ImagePullPolicy: corev1.PullIfNotPresent, Args: []string{"agent"},
					SecurityContext: &corev1.SecurityContext{Privileged: &privileged},
				}},
			}},
		},
	}
	if _, err := c.AppsV1().DaemonSets(system).Create(ctx, agents, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	return wait.Until(ctx, "the agents", slowly(func(ctx context.Context) error { return c.daemonSetReady(ctx, system, "agent") }))
}

func (c *cluster) daemonSetReady(ctx context.Context, namespace, name string) error {
	d, err := c.AppsV1().DaemonSets(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	s := d.Status
	if s.ObservedGeneration < d.Generation || s.DesiredNumberScheduled == 0 ||
		s.UpdatedNumberScheduled < s.DesiredNumberScheduled || s.NumberReady < s.DesiredNumberScheduled {
		return fmt.Errorf("daemonset %s: %d of %d pods are ready, %d are up to date", name, s.NumberReady, s.DesiredNumberScheduled, s.UpdatedNumberScheduled)
	}
	return nil
}

// onNode runs a command on the worker. The command may run more than once: it goes through
// containerd, which may be restarting.
func (c *cluster) onNode(t testing.TB, command ...string) string {
	t.Helper()
	return c.answer(t, func(ctx context.Context) (string, error) { return c.try(ctx, command...) })
}

// onNodes runs a command on all nodes, as onNode does.
func (c *cluster) onNodes(command ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), later)
	defer cancel()
	return wait.Until(ctx, "an answer of each node", slowly(func(ctx context.Context) error {
		agents, err := c.CoreV1().Pods(system).List(ctx, metav1.ListOptions{LabelSelector: "app=agent"})
		if err != nil {
			return err
		}
		for _, a := range agents.Items {
			if _, err := c.tryOn(ctx, a.Name, command...); err != nil {
				return fmt.Errorf("node %s: %w", a.Spec.NodeName, err)
			}
		}
		return nil
	}))
}

// program runs a command of the tests' program in the worker's agent, as onNode does.
func (c *cluster) program(t testing.TB, args ...string) string {
	t.Helper()
	return c.answer(t, func(ctx context.Context) (string, error) {
		pod, err := c.agent(ctx)
		if err != nil {
			return "", err
		}
		return c.tryProgram(ctx, pod, args...)
	})
}

// answer repeats a request to the worker until it is answered.
func (c *cluster) answer(t testing.TB, ask func(context.Context) (string, error)) string {
	t.Helper()
	var out string
	eventually(t, later, "an answer of node "+c.worker, func(ctx context.Context) (err error) {
		out, err = ask(ctx)
		return err
	})
	return out
}

// try runs a command on the worker once.
func (c *cluster) try(ctx context.Context, command ...string) (string, error) {
	pod, err := c.agent(ctx)
	if err != nil {
		return "", err
	}
	return c.tryOn(ctx, pod, command...)
}

// tryOn runs a command on the node of an agent once. The output ends with a marker; without it the
// output was truncated, which exec does not report (client-go#724).
func (c *cluster) tryOn(ctx context.Context, agent string, command ...string) (string, error) {
	const end = "<end>"
	out, err := c.tryProgram(ctx, agent, append([]string{"node", "sh", "-c", `"$@" && printf %s "$0"`, end}, command...)...)
	if err != nil {
		return out, err
	}
	out, whole := strings.CutSuffix(out, end)
	if !whole {
		return out, fmt.Errorf("the output of %q was truncated: %q", command, out)
	}
	return out, nil
}

func (c *cluster) tryProgram(ctx context.Context, agent string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	return c.exec(ctx, system, agent, append([]string{"/program"}, args...)...)
}

// agent returns the name of the worker's agent.
func (c *cluster) agent(ctx context.Context) (string, error) {
	pods, err := c.CoreV1().Pods(system).List(ctx, metav1.ListOptions{LabelSelector: "app=agent", FieldSelector: "spec.nodeName=" + c.worker})
	if err != nil {
		return "", err
	}
	for _, p := range pods.Items {
		if p.DeletionTimestamp == nil && p.Status.Phase == corev1.PodRunning {
			return p.Name, nil
		}
	}
	return "", fmt.Errorf("no agent runs on %s", c.worker)
}

// write writes a file on the worker.
func (c *cluster) write(t testing.TB, file, content string) {
	t.Helper()
	c.onNode(t, "sh", "-c", `mkdir -p "$(dirname "$1")" && printf %s "$2" > "$1"`, "sh", file, content)
}

// mainPID returns the main process of a unit on the worker, or 0.
func (c *cluster) mainPID(ctx context.Context, unit string) (string, error) {
	pid, err := c.try(ctx, "systemctl", "show", "--property=MainPID", "--value", unit)
	return strings.TrimSpace(pid), err
}

// containerdPID returns the main process of containerd on the worker.
func (c *cluster) containerdPID(t testing.TB) string {
	t.Helper()
	return c.answer(t, func(ctx context.Context) (string, error) { return c.mainPID(ctx, "containerd") })
}

// restart makes systemd end containerd with SIGTERM, and start it again.
var restart = []string{"systemctl", "restart", "--no-block", "containerd"}

// restartContainerd makes systemd end containerd with a signal, and waits until it is back.
func (c *cluster) restartContainerd(t testing.TB, signal string) {
	t.Helper()
	end := restart
	if signal == "KILL" {
		t.Cleanup(func() { c.onNode(t, "sh", "-c", removeCut) })
		end = []string{"systemctl", "kill", "--kill-whom=main", "--signal=KILL", "containerd"}
	}
	c.newContainerd(t, c.containerdPID(t), end...)
}

// removeCut removes the snapshots of containers that were being created when containerd was killed,
// and that have no record. The temporary lease of the creation keeps them for a day, also with the
// released containerd.
const removeCut = `
snapshots=$(ctr -n k8s.io snapshots ls) && containers=$(ctr -n k8s.io containers ls -q) || exit
echo "$snapshots" | while read -r name _ kind; do
  [ "$kind" = Active ] && ! echo "$containers" | grep -qx "$name" && ctr -n k8s.io snapshots rm "$name"
done
true`

// newContainerd ends containerd with a command, and waits until another process of it serves CRI.
func (c *cluster) newContainerd(t testing.TB, before string, end ...string) {
	t.Helper()
	c.newProcess(t, "containerd", before, end...)
	c.onNode(t, "crictl", "version")
}

// newProcess ends the main process of a unit with a command, and waits for another one. The command
// may interrupt itself, and is repeated if it had no effect.
func (c *cluster) newProcess(t testing.TB, unit, before string, end ...string) {
	t.Helper()
	done := false
	eventually(t, later, "another "+unit, func(ctx context.Context) error {
		now, err := c.mainPID(ctx, unit)
		if err != nil {
			return err
		}
		if now == before && !done {
			_, err = c.try(ctx, end...)
			done = err == nil
		}
		if now == before || now == "0" {
			return errors.Join(fmt.Errorf("its process is %s", now), err)
		}
		return nil
	})
}

// condition returns a condition of the worker.
func (c *cluster) condition(ctx context.Context, kind corev1.NodeConditionType) (corev1.NodeCondition, error) {
	n, err := c.CoreV1().Nodes().Get(ctx, c.worker, metav1.GetOptions{})
	if err != nil {
		return corev1.NodeCondition{}, err
	}
	for _, condition := range n.Status.Conditions {
		if condition.Type == kind {
			return condition, nil
		}
	}
	return corev1.NodeCondition{}, fmt.Errorf("node %s has no condition %s", c.worker, kind)
}

// ready waits until the worker is ready and takes pods.
func (c *cluster) ready(t testing.TB) {
	t.Helper()
	eventually(t, later, "node "+c.worker+" to be ready", func(ctx context.Context) error {
		n, err := c.CoreV1().Nodes().Get(ctx, c.worker, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if len(n.Spec.Taints) > 0 {
			return fmt.Errorf("it has taints: %v", n.Spec.Taints)
		}
		condition, err := c.condition(ctx, corev1.NodeReady)
		if err == nil && condition.Status != corev1.ConditionTrue {
			err = fmt.Errorf("%s: %s", condition.Reason, condition.Message)
		}
		return err
	})
}

// notReady waits until the worker is not ready, with a message that has all words.
func (c *cluster) notReady(t testing.TB, words ...string) {
	t.Helper()
	eventually(t, later, fmt.Sprintf("node %s to be NotReady, with %q", c.worker, words), func(ctx context.Context) error {
		condition, err := c.condition(ctx, corev1.NodeReady)
		if err != nil {
			return err
		}
		if condition.Status == corev1.ConditionTrue || !containsAll(condition.Message, words) {
			return fmt.Errorf("it is Ready=%s: %s: %s", condition.Status, condition.Reason, condition.Message)
		}
		t.Logf("Ready=%s, %s: %s", condition.Status, condition.Reason, condition.Message)
		return nil
	})
}

// running counts the resources of running pods on the worker: sandboxes, containers, network
// namespaces, addresses and interfaces, cached attachments of libcni, shims.
const running = `
echo "sandboxes $(crictl pods -q --state ready | wc -l)"
echo "containers $(crictl ps -q | wc -l)"
echo "namespaces $(ls /run/netns /var/run/netns 2>/dev/null | grep ^cni- | sort -u | wc -l)"
echo "addresses $(ls /var/lib/cni/networks/* /var/lib/bridge/addresses/* 2>/dev/null | grep -cE '^[0-9a-f]+[.:]')"
echo "interfaces $(ip -o link | grep -cE '^[0-9]+: (veth|pod)')"
echo "attachments $(ls /var/lib/cni/results 2>/dev/null | wc -l)"
echo "shims $(pgrep -cf '^/[^ ]*containerd-shim-runc-v2 ')"`

// known counts containerd's objects, also those of ended pods, which the kubelet collects once a
// minute.
const known = `
echo "sandboxes $(crictl pods -q | wc -l)"
echo "containers $(ctr -n k8s.io containers ls -q | wc -l)"
echo "folders $(ls -d /var/lib/containerd/io.containerd.grpc.v1.cri/*/* /run/containerd/io.containerd.grpc.v1.cri/*/* | wc -l)"
echo "snapshots $(ctr -n k8s.io snapshots ls | wc -l)"`

func (c *cluster) count(ctx context.Context, script string) (string, error) {
	return c.try(ctx, "sh", "-c", script)
}

// nothingLeft counts running resources, and lets the test wait at its end until no more are left.
// The objects that containerd knows are checked once, after all tests.
func (c *cluster) nothingLeft(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), later)
	defer cancel()
	before, err := c.settled(ctx)
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), later)
		defer cancel()
		require.NoError(t, c.noMore(ctx, running, before))
	})
}

// noMore waits until a script counts no more than before.
func (c *cluster) noMore(ctx context.Context, script, before string) error {
	return wait.Until(ctx, "nothing to be left on "+c.worker, slowly(func(ctx context.Context) error {
		now, err := c.count(ctx, script)
		if err != nil {
			return err
		}
		return more(before, now)
	}))
}

// more returns an error that names each count that has grown. Counts may shrink, since other pods
// may end meanwhile.
func more(before, now string) error {
	var name string
	var had, has int
	was, is := strings.Split(before, "\n"), strings.Split(now, "\n")
	if len(was) != len(is) {
		return fmt.Errorf("the counts were %q, and are %q", before, now)
	}
	for i := range is[:len(is)-1] {
		if _, err := fmt.Sscanf(was[i], "%s %d", &name, &had); err != nil {
			return err
		}
		if _, err := fmt.Sscanf(is[i], "%s %d", &name, &has); err != nil {
			return err
		}
		if has > had {
			return fmt.Errorf("there were %d %s, and now %d", had, name, has)
		}
	}
	return nil
}

// settled returns the count of running resources on the worker once its pods, and no others, run.
func (c *cluster) settled(ctx context.Context) (now string, err error) {
	err = wait.Until(ctx, "node "+c.worker+" to settle", slowly(func(ctx context.Context) error {
		pods, err := c.CoreV1().Pods("").List(ctx, metav1.ListOptions{FieldSelector: "spec.nodeName=" + c.worker})
		if err != nil {
			return err
		}
		up := 0
		for _, p := range pods.Items {
			over := p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
			if p.DeletionTimestamp != nil || !over && !isReady(p) {
				return fmt.Errorf("pod %s/%s is %s", p.Namespace, p.Name, p.Status.Phase)
			}
			if !over {
				up++
			}
		}
		if now, err = c.count(ctx, running); err != nil {
			return err
		}
		if want := fmt.Sprintf("sandboxes %d\n", up); !strings.HasPrefix(now, want) {
			return fmt.Errorf("it should have %d pods, and has %s", up, now)
		}
		return nil
	}))
	return now, err
}
