// SPDX-License-Identifier: Apache-2.0

package clients

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCrictl(t *testing.T) {
	runFlows(t, map[string]func(t *testing.T){
		"life":                                 func(t *testing.T) { crictlLife(t, false, false) },
		"life_on_host_network":                 func(t *testing.T) { crictlLife(t, true, false) },
		"containerd_killed":                    func(t *testing.T) { crictlLife(t, false, true) },
		"exit_codes":                           crictlExitCodes,
		"forced":                               crictlForced,
		"out_of_memory":                        crictlOutOfMemory,
		"ends_while_containerd_is_down":        crictlEndsMeanwhile,
		"network_configuration_removed":        crictlNetworkRemoved,
		"shim_killed":                          crictlShimKilled,
		"shim_killed_and_stopped_at_once":      crictlShimKilledAtOnce,
		"shim_killed_with_three_containers":    func(t *testing.T) { crictlShimKilledThree(t, false) },
		"shim_killed_after_containerd":         func(t *testing.T) { crictlShimKilledThree(t, true) },
		"shim_killed_while_containerd_is_down": crictlShimKilledMeanwhile,
	})
}

// crictl is a flow of crictl.
type crictl struct {
	*flow
	end func(want string, improved ...only)
}

// startCrictl starts a node that has busybox.
func startCrictl(t *testing.T) crictl {
	t.Helper()
	program, err := filepath.Abs(filepath.Join(os.Getenv(programs), "crictl"))
	require.NoError(t, err)
	n := startNode(t)
	c := crictl{flow: &flow{t: t, n: n, name: "crictl"}}
	c.command = func(args ...string) *exec.Cmd {
		return exec.Command(program, append([]string{"--config=/dev/null", "--runtime-endpoint=unix://" + n.CRISocket(), "--timeout=30s"}, args...)...)
	}
	c.importTo(pods)
	c.becomes("0", "exit code of inspecti", func() string { return c.code("inspecti", busybox) })
	c.end = c.leaves(pods)
	return c
}

// file writes a file for crictl.
func (c crictl) file(name string, content any) string {
	c.t.Helper()
	text, err := json.Marshal(content)
	require.NoError(c.t, err)
	file := c.in(name)
	require.NoError(c.t, os.WriteFile(file, text, 0o644))
	return file
}

type object = map[string]any

// ownPIDs gives each container a pid namespace of its own, as a kubelet does.
var ownPIDs = object{"pid": 1}

// pod runs a pod.
func (c crictl) pod(hostNetwork bool) (file, id string) {
	c.t.Helper()
	namespaces := maps.Clone(ownPIDs)
	if hostNetwork {
		namespaces["network"] = 2
	}
	linux := object{"cgroup_parent": c.n.PodCgroup(), "security_context": object{"namespace_options": namespaces}}
	file = c.file("pod.json", object{
		"metadata":      object{"name": "pod", "namespace": "default", "uid": "pod-uid", "attempt": 1},
		"log_directory": c.in("logs"), "linux": linux,
	})
	return file, c.called(c.run(0, "runp", file), "POD")
}

// create creates a container.
func (c crictl) create(pod, podFile, name string, limit int, command ...string) string {
	c.t.Helper()
	file := c.file(name+".json", object{
		"metadata": object{"name": name}, "image": object{"image": busybox}, "command": command, "log_path": name + ".log",
		"linux": object{"resources": object{"memory_limit_in_bytes": limit}, "security_context": object{"namespace_options": ownPIDs}},
	})
	return c.called(c.run(0, "create", pod, file, podFile), name)
}

// start creates and starts a container that runs until it is stopped, and waits until it is ready.
func (c crictl) start(pod, podFile, name string) string {
	c.t.Helper()
	id := c.create(pod, podFile, name, 0, "sh", "-c", untilTerm)
	c.run(0, "start", id)
	c.ready(id)
	return id
}

func (c crictl) ready(id string) {
	c.t.Helper()
	c.becomes("ready", "exec in "+id, c.printed("exec", "--sync", id, "cat", "/tmp/ready"))
}

func (c crictl) is(id, want string) {
	c.t.Helper()
	const state = "{{.status.state}} {{.status.exitCode}}{{with .status.reason}} {{.}}{{end}}"
	c.becomes(want, "state of "+id, c.printed("inspect", "--output=go-template", "--template="+state, id))
}

func (c crictl) podIs(id, want string) {
	c.t.Helper()
	c.becomes(want, "state of "+id, c.printed("inspectp", "--output=go-template", "--template={{.status.state}}", id))
}

// lists observes how many pods and containers crictl lists.
func (c crictl) none() {
	c.t.Helper()
	c.prints("", "pods", "--quiet")
	c.prints("", "ps", "--all", "--quiet")
}

// crictlLife kills containerd between any two steps if kill is set.
func crictlLife(t *testing.T, hostNetwork, kill bool) {
	c := startCrictl(t)
	next := func() {
		if kill {
			c.restart()
		}
	}
	file, pod := c.pod(hostNetwork)
	c.podIs(pod, "SANDBOX_READY")
	next()
	c.podIs(pod, "SANDBOX_READY")
	one := c.create(pod, file, "one", 0, "sh", "-c", untilTerm)
	c.is(one, "CONTAINER_CREATED 0")
	next()
	c.is(one, "CONTAINER_CREATED 0")
	c.run(0, "start", one)
	c.ready(one)
	next()
	c.is(one, "CONTAINER_RUNNING 0")
	c.run(0, "exec", "--sync", one, "true")
	c.run(1, "exec", "--sync", one, "sh", "-c", "exit 5")
	c.prints("said", "exec", "--sync", one, "echo", "said")
	c.prints("ready", "logs", one)
	next()
	c.run(0, "stop", "--timeout=10", one)
	c.is(one, "CONTAINER_EXITED 7 Error")
	next()
	c.is(one, "CONTAINER_EXITED 7 Error")
	c.run(0, "rm", one)
	c.run(1, "inspect", one)
	two := c.start(pod, file, "two")
	next()
	c.run(0, "stopp", pod)
	c.podIs(pod, "SANDBOX_NOTREADY")
	c.is(two, "CONTAINER_EXITED 137 Error") // pods are stopped without a grace period
	next()
	c.podIs(pod, "SANDBOX_NOTREADY")
	c.run(0, "stopp", pod)
	c.run(0, "rmp", pod)
	next()
	c.run(1, "inspectp", pod)
	c.run(1, "rmp", pod)
	c.none()
	c.end("nothing")
}

func crictlExitCodes(t *testing.T) {
	c := startCrictl(t)
	file, pod := c.pod(false)
	for name, step := range []struct {
		started int
		state   string
		command []string
	}{
		{0, "CONTAINER_EXITED 0 Completed", []string{"true"}},
		{0, "CONTAINER_EXITED 3 Error", []string{"sh", "-c", "exit 3"}},
		{1, "CONTAINER_EXITED 128 StartError", []string{"nosuch"}},
	} {
		id := c.create(pod, file, []string{"succeeds", "fails", "cannot"}[name], 0, step.command...)
		c.run(step.started, "start", id)
		c.is(id, step.state)
		c.run(1, "start", id)
	}
	c.run(1, "runp", file)
	c.run(0, "rmp", "--force", pod)
	c.none()
	c.end("nothing")
}

func crictlForced(t *testing.T) {
	c := startCrictl(t)
	file, pod := c.pod(false)
	one := c.start(pod, file, "one")
	c.run(1, "rm", one)
	c.run(0, "rm", "--force", one)
	c.start(pod, file, "two")
	c.run(1, "rmp", pod)
	c.run(0, "rmp", "--force", pod)
	_, pod = c.pod(false) // its name is free again
	c.run(0, "rmp", "--force", pod)
	c.none()
	c.end("nothing")
}

func crictlOutOfMemory(t *testing.T) {
	c := startCrictl(t)
	file, pod := c.pod(false)
	one := c.create(pod, file, "one", 16<<20, "dd", "if=/dev/zero", "of=/dev/null", "bs=64M", "count=1")
	c.run(0, "start", one)
	c.is(one, "CONTAINER_EXITED 137 OOMKilled")
	c.run(0, "rmp", "--force", pod)
	c.end("nothing")
}

func crictlEndsMeanwhile(t *testing.T) {
	c := startCrictl(t)
	file, pod := c.pod(false)
	one := c.start(pod, file, "one")
	pid := c.processOf(pods, one)
	c.restart(func() {
		require.NoError(t, syscall.Kill(pid, syscall.SIGTERM))
		c.gone(pid)
	})
	c.is(one, "CONTAINER_EXITED 255 Unknown") // containerd does not ask the shim for the code
	c.podIs(pod, "SANDBOX_READY")
	c.run(0, "rm", one)
	c.run(0, "stopp", pod)
	c.run(0, "rmp", pod)
	c.none()
	c.end("nothing")
}

func crictlShimKilled(t *testing.T) {
	c := startCrictl(t)
	file, pod := c.pod(false)
	one := c.start(pod, file, "one")
	c.killShim(pod)
	c.podIs(pod, "SANDBOX_NOTREADY")
	c.is(one, "CONTAINER_EXITED 255 Error")
	c.run(0, "stopp", pod)
	c.removed(pod)
	c.none()
	c.end("shim socket 2")
}

func crictlShimKilledAtOnce(t *testing.T) {
	c := startCrictl(t)
	file, pod := c.pod(false)
	one := c.start(pod, file, "one")
	created := c.create(pod, file, "created", 0, "sh", "-c", untilTerm)
	c.killShim(pod)
	c.run(0, "stopp", pod)
	c.is(one, "CONTAINER_EXITED 255 Error")
	c.is(created, "CONTAINER_CREATED 0")
	c.removed(pod)
	c.none()
	c.end("shim socket 2")
}

func crictlShimKilledThree(t *testing.T, restart bool) {
	c := startCrictl(t)
	file, pod := c.pod(false)
	all := []string{c.start(pod, file, "one"), c.start(pod, file, "two"), c.start(pod, file, "three")}
	if restart {
		c.restart()
	}
	c.killShim(pod)
	for _, id := range all {
		c.is(id, "CONTAINER_EXITED 255 Error")
	}
	c.podIs(pod, "SANDBOX_NOTREADY")
	for _, id := range all {
		c.run(0, "rm", id)
	}
	c.run(0, "stopp", pod)
	c.removed(pod)
	c.none()
	c.end("shim socket 2")
}

// removed removes a pod whose shim has ended. While containerd cleans up after the shim this may
// fail on both runtimes, so it is tried again, as a kubelet does.
func (c crictl) removed(pod string) {
	c.t.Helper()
	c.becomes("0", "exit code of rmp POD", func() string { return c.code("rmp", pod) })
}

func crictlShimKilledMeanwhile(t *testing.T) {
	c := startCrictl(t)
	file, pod := c.pod(false)
	one := c.start(pod, file, "one")
	c.restart(func() { c.killShim(pod) })
	c.podIs(pod, "SANDBOX_NOTREADY")
	c.is(one, "CONTAINER_EXITED 255 Unknown")
	c.run(0, "stopp", pod)
	c.removed(pod)
	c.none()
	c.end("shim socket 2")
}

// The network's configuration is removed while pods run.
func crictlNetworkRemoved(t *testing.T) {
	c := startCrictl(t)
	file, pod := c.pod(false)
	c.start(pod, file, "one")
	_, conf := c.n.CNI()
	c.restart(func() {
		require.NoError(t, os.RemoveAll(conf))
		require.NoError(t, os.Mkdir(conf, 0o755))
	})
	why := "a pod can be stopped and removed without the configuration of its network"
	code := func(command string) func() string { return func() string { return c.code(command, pod) } }
	c.becomes("0", "exit code of stopp POD", code("stopp"), only{"1", why})
	c.becomes("0", "exit code of rmp POD", code("rmp"), only{"1", why})
	c.becomes("0", "number of pods", func() string {
		_, out, _ := c.try("pods", "--quiet")
		return fmt.Sprint(len(strings.Fields(out)))
	}, only{"1", why})
	c.end("nothing", only{"CRI container 1, CRI pod 1, address 1, attachment 2, container folder 2, container record 2, " +
		"lease 1, link 1, network file 1, network namespace 1, sandbox folder 2, sandbox record 1, snapshot 2", why})
}
