// SPDX-License-Identifier: Apache-2.0

package clients

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCtr(t *testing.T) {
	runFlows(t, map[string]func(t *testing.T){
		"exit_codes":                    ctrExitCodes,
		"life":                          ctrLife,
		"containerd_killed":             ctrContainerdKilled,
		"ends_while_containerd_is_down": ctrEndsMeanwhile,
		"shim_killed":                   ctrShimKilled,
	})
}

// ctr is a flow of containerd's own ctr.
type ctr struct {
	*flow
	end func(want string, improved ...only)
}

// importTo loads busybox into a namespace.
func (f *flow) importTo(namespace string) {
	f.t.Helper()
	c := flow{t: f.t, n: f.n, name: "ctr", command: ctrCommand(f, namespace)}
	code, out, said := c.try("images", "import", os.Getenv(archive))
	require.Zero(f.t, code, "load busybox: %s%s", out, said)
}

func ctrCommand(f *flow, namespace string) func(args ...string) *exec.Cmd {
	program, err := filepath.Abs(filepath.Join(os.Getenv(containerd), "ctr"))
	require.NoError(f.t, err)
	return func(args ...string) *exec.Cmd {
		return exec.Command(program, append([]string{"--address=" + f.n.CRISocket(), "--namespace=" + namespace}, args...)...)
	}
}

// startCtr starts a node that has busybox.
func startCtr(t *testing.T) ctr {
	t.Helper()
	c := ctr{flow: &flow{t: t, n: startNode(t), name: "ctr"}}
	c.command = ctrCommand(c.flow, others)
	c.importTo(others)
	c.end = c.leaves(others)
	return c
}

// of returns the arguments of a command about a container in the node's cgroup.
func (c ctr) of(name string, options ...string) []string {
	return append([]string{"--cgroup=" + c.n.PodCgroup() + "/" + name}, options...)
}

func (c ctr) start(name string) {
	c.t.Helper()
	c.run(0, append(append([]string{"run", "--detach"}, c.of(name)...), busybox, name, "sh", "-c", untilTerm)...)
	c.ready(name)
}

func (c ctr) ready(name string) {
	c.t.Helper()
	c.becomes("ready", "exec in "+name, c.printed("tasks", "exec", "--exec-id=ready", name, "cat", "/tmp/ready"))
}

// is waits until the task of a container is in a state, or does not exist.
func (c ctr) is(name, want string) {
	c.t.Helper()
	c.becomes(want, "task of "+name, func() string {
		_, out, _ := c.try("tasks", "ls")
		for line := range strings.Lines(out) {
			if words := strings.Fields(line); len(words) == 3 && words[0] == name {
				return words[2]
			}
		}
		return "none"
	})
}

func ctrExitCodes(t *testing.T) {
	c := startCtr(t)
	once := func(want int, command ...string) {
		t.Helper()
		c.run(want, append(append(append([]string{"run", "--rm"}, c.of("one")...), busybox, "one"), command...)...)
	}
	once(0, "true")
	once(3, "sh", "-c", "exit 3")
	once(1, "nosuch")
	c.prints("", "containers", "ls", "--quiet")
	c.end("nothing")
}

func ctrLife(t *testing.T) {
	c := startCtr(t)
	c.start("one")
	c.is("one", "RUNNING")
	c.run(5, "tasks", "exec", "--exec-id=two", "one", "sh", "-c", "exit 5")
	c.run(0, "tasks", "pause", "one")
	c.is("one", "PAUSED")
	c.run(0, "tasks", "resume", "one")
	c.is("one", "RUNNING")
	c.run(1, "tasks", "delete", "one")
	c.run(1, "containers", "rm", "one")
	c.run(0, "tasks", "kill", "--signal=TERM", "one")
	c.is("one", "STOPPED")
	c.run(1, "tasks", "kill", "one")
	c.run(0, "tasks", "delete", "one")
	c.is("one", "none")
	c.run(0, "tasks", "start", "--detach", "one")
	c.ready("one")
	c.run(0, "tasks", "delete", "--force", "one")
	c.run(0, "containers", "rm", "one")
	c.end("nothing")
}

func ctrContainerdKilled(t *testing.T) {
	c := startCtr(t)
	c.start("one")
	c.start("created")
	c.run(0, "tasks", "delete", "--force", "created")
	c.restart()
	c.is("one", "RUNNING")
	c.run(5, "tasks", "exec", "--exec-id=two", "one", "sh", "-c", "exit 5")
	c.run(0, "tasks", "start", "--detach", "created")
	c.ready("created")
	c.run(0, "tasks", "pause", "one")
	c.restart()
	c.is("one", "PAUSED")
	c.run(0, "tasks", "resume", "one")
	c.run(0, "tasks", "kill", "--signal=TERM", "one")
	c.is("one", "STOPPED")
	c.run(0, "tasks", "kill", "--signal=KILL", "created")
	c.is("created", "STOPPED")
	c.run(0, "tasks", "delete", "one")
	c.run(0, "tasks", "delete", "created")
	c.restart()
	c.is("one", "none")
	c.run(0, "containers", "rm", "one", "created")
	c.end("nothing")
}

func ctrEndsMeanwhile(t *testing.T) {
	c := startCtr(t)
	c.start("ends")
	c.start("killed")
	pid := c.processOf(others, "ends")
	c.restart(func() {
		require.NoError(t, syscall.Kill(pid, syscall.SIGTERM))
		c.gone(pid)
		c.killShim("killed")
	})
	c.is("ends", "none")
	c.is("killed", "none")
	c.run(0, "tasks", "start", "--detach", "ends")
	c.ready("ends")
	c.run(0, "tasks", "start", "--detach", "killed")
	c.ready("killed")
	c.run(0, "tasks", "delete", "--force", "ends")
	c.run(0, "tasks", "delete", "--force", "killed")
	c.run(0, "containers", "rm", "ends", "killed")
	c.end("fifo 2") // ctr would have removed it
}

func ctrShimKilled(t *testing.T) {
	c := startCtr(t)
	c.start("one")
	c.killShim("one")
	c.is("one", "none")
	c.run(1, "tasks", "exec", "--exec-id=two", "one", "true")
	c.cleaned(others, "one")
	c.run(0, "tasks", "start", "--detach", "one")
	c.ready("one")
	c.killShim("one")
	c.is("one", "none")
	c.run(0, "containers", "rm", "one")
	c.end("fifo 2, shim socket 2") // ctr and the shim would have removed them
}
