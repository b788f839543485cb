// SPDX-License-Identifier: Apache-2.0

package clients

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/containerd/containerd/api/services/tasks/v1"
	"github.com/containerd/containerd/v2/pkg/namespaces"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/wait"
)

// runFlows runs the flows of a client side by side.
func runFlows(t *testing.T, flows map[string]func(t *testing.T)) {
	t.Helper()
	for name, run := range flows {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t)
		})
	}
}

// flow is a sequence of a client's commands on a node, with their observed results.
type flow struct {
	t *testing.T
	n *node.Node

	name    string // of the client
	command func(args ...string) *exec.Cmd
	names   []string // pairs of an id and its name in observations
}

// called replaces an id of this run by a name in observations.
func (f *flow) called(id, name string) string {
	f.t.Helper()
	require.NotEmpty(f.t, id, "id of %s", name)
	f.names = append(f.names, id, name)
	return id
}

// only is a result of stock alone, and why hookline's differs.
type only struct{ onStock, why string }

// observe logs a result and asserts that it is as wanted. Where hookline improves on stock, stock
// may have another result.
func (f *flow) observe(what, want, got string, improved ...only) {
	f.t.Helper()
	reason := ""
	for _, o := range improved {
		reason = " (improved: " + o.why + ")"
		if runsOnStock && got == o.onStock {
			want = got
		}
	}
	what = strings.NewReplacer(slices.Concat(f.names, plain, []string{f.n.PodCgroup(), "PODS", f.n.Folder() + "/", ""})...).Replace(what)
	f.t.Logf("observed: %s: %s%s", what, got, reason)
	assert.Equal(f.t, want, got, what)
}

// plain shortens parts that all observations have.
var plain = []string{untilTerm, "UNTIL-TERM", stubborn, "STUBBORN", busybox, "busybox", " --network=none", "", " --security-opt=seccomp=unconfined", ""}

// run runs the client, and observes its exit code.
func (f *flow) run(want int, args ...string) string {
	f.t.Helper()
	code, out, said := f.try(args...)
	if code != want {
		f.t.Logf("%s %q printed %s%s", f.name, args, out, said)
	}
	f.observe(f.name+" "+strings.Join(args, " "), fmt.Sprint(want), fmt.Sprint(code))
	return strings.TrimSpace(out)
}

// prints runs the client, and observes its output.
func (f *flow) prints(want string, args ...string) {
	f.t.Helper()
	_, out, _ := f.try(args...)
	f.observe(f.name+" "+strings.Join(args, " "), want, oneLine(out))
}

// becomes observes the client's output once it is as wanted, or when a time limit is over.
func (f *flow) becomes(want, what string, print func() string, improved ...only) {
	f.t.Helper()
	limit := 20 * time.Second
	if runsOnStock && len(improved) > 0 {
		limit = 5 * time.Second
	}
	got := ""
	_ = wait.Until(within(f.t, limit), what, func(context.Context) error { // the last result is observed
		if got = print(); got != want {
			return fmt.Errorf("it is %s", got)
		}
		return nil
	})
	f.observe(what, want, got, improved...)
}

// try runs the client.
func (f *flow) try(args ...string) (code int, out, said string) {
	f.t.Helper()
	cmd := f.command(args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &stdout, &stderr, time.Second
	require.NoError(f.t, f.n.Start(cmd), "start %s", f.name)
	stop := context.AfterFunc(within(f.t, patience), func() { _ = cmd.Process.Kill() })
	err := cmd.Wait()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
		require.NoError(f.t, err, "%s %q", f.name, args)
	}
	if !stop() {
		said += fmt.Sprintf("\n%s was killed after %s", f.name, patience)
	}
	return cmd.ProcessState.ExitCode(), stdout.String(), stderr.String() + said
}

// code returns the exit code of the client.
func (f *flow) code(args ...string) string {
	f.t.Helper()
	code, _, _ := f.try(args...)
	return fmt.Sprint(code)
}

// printed returns the client's output, in one line.
func (f *flow) printed(args ...string) func() string {
	return func() string {
		_, out, said := f.try(args...)
		if out == "" {
			return oneLine(said)
		}
		return oneLine(out)
	}
}

// restart kills containerd, does something, and starts it again.
func (f *flow) restart(between ...func()) {
	f.t.Helper()
	require.NoError(f.t, f.n.Kill(within(f.t, patience)))
	for _, do := range between {
		do()
	}
	require.NoError(f.t, f.n.Boot(within(f.t, patience)))
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// in returns a path in the node's folder.
func (f *flow) in(elem ...string) string {
	return filepath.Join(append([]string{f.n.Folder()}, elem...)...)
}

// killShim kills the shim of a container.
func (f *flow) killShim(id string) {
	f.t.Helper()
	pid, err := f.n.Shim(id)
	require.NoError(f.t, err)
	require.NoError(f.t, syscall.Kill(pid, syscall.SIGKILL))
}

// untilTerm is a script that says when it is ready, in its output and in a file, and exits with 7
// on SIGTERM.
const untilTerm = `trap "exit 7" TERM; echo ready | tee /tmp/ready; while :; do sleep 1 & wait $!; done`

// stubborn is a script that ignores SIGTERM.
const stubborn = `trap "" TERM; echo ready; while :; do sleep 1; done`

// gone waits until a process has ended.
func (f *flow) gone(pid int) {
	f.t.Helper()
	require.Eventually(f.t, func() bool {
		_, err := os.Stat(filepath.Join("/proc", fmt.Sprint(pid)))
		return err != nil
	}, patience, 5*time.Millisecond)
}

// processOf returns the first process of a container, by its id.
func (f *flow) processOf(namespace, id string) int {
	f.t.Helper()
	r, err := f.n.Containerd().TaskService().Get(namespaces.WithNamespace(within(f.t, patience), namespace), &tasks.GetRequest{ContainerID: id})
	require.NoError(f.t, err)
	return int(r.GetProcess().GetPid())
}

// id returns the id of a container, by its name.
func (f *flow) id(name string) string { return f.printed("inspect", "--format={{.Id}}", name)() }

// cleaned waits until containerd has cleaned up a task whose shim has ended.
func (f *flow) cleaned(namespace, id string) {
	f.t.Helper()
	bundle := f.in("state", "io.containerd.runtime.v2.task", namespace, id)
	require.Eventually(f.t, func() bool {
		_, err := os.Stat(bundle)
		return errors.Is(err, fs.ErrNotExist)
	}, patience, 5*time.Millisecond)
}
