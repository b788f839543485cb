// SPDX-License-Identifier: Apache-2.0

package clients

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestNerdctl(t *testing.T) {
	runFlows(t, map[string]func(t *testing.T){
		"exit_codes":                    nerdctlExitCodes,
		"life":                          nerdctlLife,
		"commit":                        nerdctlCommit,
		"host_network":                  nerdctlHostNetwork,
		"out_of_memory":                 nerdctlOutOfMemory,
		"containerd_killed":             nerdctlContainerdKilled,
		"ends_while_containerd_is_down": nerdctlEndsMeanwhile,
		"shim_killed":                   nerdctlShimKilled,
	})
}

// nerdctl is a flow of nerdctl in a namespace of its own.
type nerdctl struct {
	*flow
	end func(want string, improved ...only)
}

// others is the namespace of containers of nerdctl and ctr.
const others = "default"

// startNerdctl starts a node that has busybox.
func startNerdctl(t *testing.T) nerdctl {
	t.Helper()
	program, err := filepath.Abs(filepath.Join(os.Getenv(programs), "nerdctl"))
	require.NoError(t, err)
	n := startNode(t)
	bin, _ := n.CNI()
	c := nerdctl{flow: &flow{t: t, n: n, name: "nerdctl"}}
	c.command = func(args ...string) *exec.Cmd {
		return exec.Command(program, append([]string{
			"--address=" + n.CRISocket(), "--namespace=" + others, "--data-root=" + c.in("nerdctl"),
			"--cni-path=" + bin, "--cni-netconfpath=" + c.in("nerdctl-net"), "--cgroup-manager=cgroupfs",
		}, args...)...)
	}
	code, out, said := c.try("load", "--input", os.Getenv(archive))
	require.Zero(t, code, "load busybox: %s%s", out, said)
	c.end = c.leaves(others)
	return c
}

// create returns the arguments of a command that creates a container in the node's cgroup.
func (c nerdctl) create(command, name string, options ...string) []string {
	return append(create(command, name), append([]string{"--cgroup-parent=" + c.n.PodCgroup()}, options...)...)
}

// start runs a container that goes on until it is stopped, and waits until it is ready.
func (c nerdctl) start(name string, options ...string) {
	c.t.Helper()
	c.run(0, append(append(c.create("run", name, "--detach"), options...), busybox, "sh", "-c", untilTerm)...)
	c.ready(name)
}

func (c nerdctl) ready(name string) {
	c.t.Helper()
	c.becomes("ready", "exec in "+name, c.printed("exec", name, "cat", "/tmp/ready"))
}

func (c nerdctl) is(name, want string) {
	c.t.Helper()
	c.becomes(want, "state of "+name, c.printed("inspect", "--format={{with .State.Status}}{{.}}{{else}}no task{{end}} {{.State.ExitCode}}", name))
}

func nerdctlExitCodes(t *testing.T) {
	c := startNerdctl(t)
	once := func(want int, command ...string) {
		t.Helper()
		c.run(want, append(append(c.create("run", "one", "--rm"), busybox), command...)...)
	}
	once(0, "true")
	once(3, "sh", "-c", "exit 3")
	once(1, "nosuch")
	c.prints("", "ps", "--all", "--quiet")
	c.end("nothing")
}

func nerdctlLife(t *testing.T) {
	c := startNerdctl(t)
	c.run(0, append(c.create("create", "one"), busybox, "sh", "-c", untilTerm)...)
	c.is("one", "no task 0")
	c.run(0, "start", "one")
	c.ready("one")
	c.is("one", "running 0")
	c.run(1, "exec", "one", "sh", "-c", "exit 5")
	c.prints("said", "exec", "one", "echo", "said")
	c.prints("ready", "logs", "one")
	c.run(0, "pause", "one")
	c.is("one", "paused 0")
	c.run(0, "unpause", "one")
	c.is("one", "running 0")
	c.run(0, "stop", "one")
	c.is("one", "exited 7")
	c.run(0, "start", "one")
	c.is("one", "running 0")
	c.run(0, "restart", "one")
	c.is("one", "running 0")
	c.run(0, "kill", "one")
	c.is("one", "exited 137")
	c.run(0, "rm", "one")
	c.start("two")
	c.run(1, "rm", "two")
	c.run(0, "rm", "--force", "two")
	c.run(1, "inspect", "two")
	c.end("nothing")
}

func nerdctlCommit(t *testing.T) {
	c := startNerdctl(t)
	c.start("one")
	c.run(0, "exec", "one", "sh", "-c", "echo kept >/tmp/kept")
	c.run(0, "commit", "one", "localhost/hookline/committed:1")
	c.is("one", "running 0")
	c.prints("kept", append(c.create("run", "two", "--rm"), "localhost/hookline/committed:1", "cat", "/tmp/kept")...)
	c.run(0, "rm", "--force", "one")
	c.run(0, "rmi", "localhost/hookline/committed:1")
	c.end("nothing")
}

func nerdctlHostNetwork(t *testing.T) {
	c := startNerdctl(t)
	run := []string{"run", "--name=one", "--network=host", "--security-opt=seccomp=unconfined", "--cgroup-parent=" + c.n.PodCgroup()}
	c.run(0, append(run, "--detach", busybox, "sh", "-c", untilTerm)...)
	c.ready("one")
	c.run(0, "stop", "one")
	c.is("one", "exited 7")
	c.run(0, "rm", "one")
	c.end("nothing")
}

func nerdctlOutOfMemory(t *testing.T) {
	c := startNerdctl(t)
	c.run(137, append(c.create("run", "one", "--memory=16m", "--memory-swap=16m"), busybox, "dd", "if=/dev/zero", "of=/dev/null", "bs=64M", "count=1")...)
	c.is("one", "exited 137")
	c.run(0, "rm", "one")
	c.end("nothing")
}

func nerdctlContainerdKilled(t *testing.T) {
	c := startNerdctl(t)
	c.start("one")
	c.run(0, append(c.create("create", "created"), busybox, "sh", "-c", untilTerm)...)
	c.restart()
	c.is("one", "running 0")
	c.run(1, "exec", "one", "sh", "-c", "exit 5")
	c.run(0, "start", "created")
	c.ready("created")
	c.run(0, "pause", "one")
	c.restart()
	c.is("one", "paused 0")
	c.run(0, "unpause", "one")
	c.restart()
	c.run(0, "stop", "one", "created")
	c.is("one", "exited 7")
	c.is("created", "exited 7")
	c.restart()
	c.run(0, "start", "one")
	c.ready("one")
	c.run(0, "rm", "--force", "one")
	c.restart()
	c.run(0, "rm", "created")
	c.end("nothing")
}

func nerdctlEndsMeanwhile(t *testing.T) {
	c := startNerdctl(t)
	c.start("ends")
	c.start("killed")
	pid, id := c.processOf(others, c.id("ends")), c.id("killed")
	c.restart(func() {
		require.NoError(t, syscall.Kill(pid, syscall.SIGTERM))
		c.gone(pid)
		c.killShim(id)
	})
	c.is("ends", "no task 0")
	c.is("killed", "no task 0")
	c.run(0, "start", "ends", "killed")
	c.is("ends", "running 0")
	c.is("killed", "running 0")
	c.run(0, "rm", "--force", "ends", "killed")
	c.end("nothing")
}

// The shim and its clean-up start programs of nerdctl, which write to the folder that rm removes.
func nerdctlShimKilled(t *testing.T) {
	c := startNerdctl(t)
	c.start("one")
	id := c.id("one")
	c.killShim(id)
	c.is("one", "no task 0")
	c.run(1, "exec", "one", "true")
	c.cleaned(others, id)
	c.run(0, "start", "one")
	c.ready("one")
	c.killShim(id)
	c.is("one", "no task 0")
	c.cleaned(others, id)
	c.quiet()
	c.run(0, "rm", "one")
	c.end("shim socket 2")
}

// quiet waits for the end of all programs of nerdctl.
func (c nerdctl) quiet() {
	c.t.Helper()
	require.Eventually(c.t, func() bool {
		found := things{}
		require.NoError(c.t, c.processes(c.t.Context(), found))
		return !slices.ContainsFunc(found["process"], func(line string) bool { return strings.Contains(line, "/nerdctl ") })
	}, patience, 5*time.Millisecond)
}
