// SPDX-License-Identifier: Apache-2.0

package clients

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestDocker(t *testing.T) {
	runFlows(t, map[string]func(t *testing.T){
		"exit_codes":                     dockerExitCodes,
		"life":                           dockerLife,
		"stop":                           dockerStop,
		"restart_policy":                 dockerRestartPolicy,
		"out_of_memory":                  dockerOutOfMemory,
		"events":                         dockerEvents,
		"containerd_killed":              func(t *testing.T) { dockerContainerdKilled(t, false) },
		"containerd_killed_live_restore": func(t *testing.T) { dockerContainerdKilled(t, true) },
		"ends_while_containerd_is_down":  dockerEndsMeanwhile,
		"dockerd_killed":                 dockerDaemonKilled,
		"dockerd_killed_live_restore":    dockerDaemonKilledLiveRestore,
		"shim_killed":                    dockerShimKilled,
		"shim_killed_restart_policy":     dockerShimKilledRestartPolicy,
	})
}

func dockerExitCodes(t *testing.T) {
	d := startDocker(t, false)
	once := func(want int, command ...string) {
		t.Helper()
		d.run(want, append(append(create("run", "one", "--rm"), busybox), command...)...)
	}
	once(0, "true")
	once(3, "sh", "-c", "exit 3")
	once(137, "sh", "-c", "sh -c 'kill -KILL $$'; exit $?") // of a child, since the first process ignores it
	once(126, "/etc/hostname")
	once(127, "nosuch")
	d.run(125, "run", "--rm", "--network=nosuch", busybox, "true")
	d.run(125, "run", "--rm", "--memory=1", busybox, "true")
	d.prints("", "ps", "--all", "--quiet")
	d.end("nothing")
}

func dockerLife(t *testing.T) {
	d := startDocker(t, false)
	d.run(0, append(create("create", "one"), busybox, "sh", "-c", untilTerm)...)
	d.is("one", "created 0")
	d.run(0, "start", "one")
	d.ready("one")
	d.is("one", "running 0")
	d.run(5, "exec", "one", "sh", "-c", "exit 5")
	d.run(126, "exec", "one", "nosuch")
	d.prints("said", "exec", "one", "echo", "said")
	d.run(0, "pause", "one")
	d.is("one", "paused 0")
	d.run(1, "exec", "one", "true")
	d.run(0, "unpause", "one")
	d.is("one", "running 0")
	d.run(0, "exec", "one", "true")
	d.run(0, "restart", "one")
	d.is("one", "running 0")
	d.run(0, "update", "--memory=64m", "--memory-swap=64m", "one")
	d.run(1, "rm", "one")
	d.run(0, "rm", "--force", "one")
	d.run(1, "inspect", "one")
	d.end("nothing")
}

func dockerStop(t *testing.T) {
	d := startDocker(t, false)
	d.start("one")
	d.run(0, "stop", "one")
	d.is("one", "exited 7")
	d.run(0, "start", "one")
	d.is("one", "running 0")
	d.run(0, "kill", "one")
	d.is("one", "exited 137")
	d.run(1, "kill", "one")
	d.run(0, "rm", "one")

	d.run(0, append(create("run", "two", "--detach"), busybox, "sh", "-c", stubborn)...)
	d.ready("two")
	d.run(0, "stop", "--time=1", "two")
	d.is("two", "exited 137")
	d.run(0, "rm", "two")

	d.run(0, append(create("run", "three", "--detach", "--init=false"), busybox, "sh", "-c", "echo ready; exec sleep 600")...)
	d.ready("three")
	d.run(0, "kill", "--signal=SEGV", "three")
	d.run(0, "stop", "--time=0", "three")
	d.is("three", "exited 137")
	d.run(0, "rm", "three")

	d.start("four")
	d.run(0, "kill", "--signal=TERM", "four")
	d.prints("7", "wait", "four")
	d.run(0, "rm", "four")
	d.end("nothing")
}

func dockerRestartPolicy(t *testing.T) {
	d := startDocker(t, false)
	policy := func(name, policy string, command ...string) {
		t.Helper()
		d.run(0, append(append(create("run", name, "--detach", "--restart="+policy), busybox), command...)...)
	}
	policy("never", "no", "sh", "-c", "exit 4")
	d.is("never", "exited 4")
	policy("failing", "on-failure:2", "sh", "-c", "exit 4")
	d.is("failing", "exited 4 restarted 2")
	policy("succeeding", "on-failure:2", "true")
	d.is("succeeding", "exited 0")
	// It fails twice, and then runs.
	policy("always", "always", "sh", "-c", "echo x >>/tmp/runs; [ $(cat /tmp/runs | wc -l) -gt 2 ] || exit 4; "+untilTerm)
	d.is("always", "running 0 restarted 2")
	d.run(0, "stop", "always")
	d.is("always", "exited 7 restarted 2")
	d.run(0, "start", "always")
	d.ready("always")
	d.is("always", "running 0")
	d.run(0, "kill", "always")
	d.is("always", "exited 137")
	d.run(0, "rm", "--force", "never", "failing", "succeeding", "always")
	d.end("nothing")
}

func dockerOutOfMemory(t *testing.T) {
	d := startDocker(t, false)
	d.run(137, append(create("run", "one", "--memory=16m", "--memory-swap=16m"), busybox, "dd", "if=/dev/zero", "of=/dev/null", "bs=64M", "count=1")...)
	d.is("one", "exited 137 OOMKilled")
	d.run(0, append(create("run", "two", "--memory=16m", "--memory-swap=16m"), busybox, "true")...)
	d.is("two", "exited 0")
	d.run(0, "rm", "one", "two")
	d.end("nothing")
}

func dockerEvents(t *testing.T) {
	d := startDocker(t, false)
	began := time.Now()
	d.start("one")
	d.run(5, "exec", "one", "sh", "-c", "exit 5")
	d.run(0, "pause", "one")
	d.run(0, "unpause", "one")
	d.run(0, "stop", "one")
	d.run(0, "start", "one")
	d.run(0, "kill", "one")
	d.is("one", "exited 137")
	d.run(0, "rm", "one")
	d.becomes("create start exec_create exec_start exec_die:5 pause unpause kill die:7 stop start kill die:137 destroy", "events", func() string {
		_, out, _ := d.try("events", "--since="+stamp(began), "--until="+stamp(time.Now()), "--filter=type=container",
			"--format={{.Action}} {{with .Actor.Attributes.exitCode}}:{{.}}{{end}}")
		var events []string
		for line := range strings.Lines(out) {
			words := strings.Fields(line) // events of an exec also have the command
			code := ""
			if last := words[len(words)-1]; strings.HasPrefix(last, ":") {
				code = last
			}
			events = append(events, strings.TrimSuffix(words[0], ":")+code)
		}
		return strings.Join(events, " ")
	})
	d.end("nothing")
}

// stamp formats a time for docker.
func stamp(t time.Time) string { return fmt.Sprintf("%d.%09d", t.Unix(), t.Nanosecond()) }

// Without live-restore this version of docker behaves the same, since its daemon goes on.
func dockerContainerdKilled(t *testing.T, liveRestore bool) {
	d := startDocker(t, liveRestore)
	d.start("stays")
	d.run(0, append(create("create", "created"), busybox, "sh", "-c", untilTerm)...)
	d.restart()
	d.answers("stays")
	d.is("stays", "running 0")
	d.run(0, "start", "created")
	d.ready("created")
	d.start("after")
	d.run(0, "pause", "stays")
	d.restart()
	d.becomes("0", "exit code of unpause", func() string { return d.code("unpause", "stays") })
	d.run(0, "stop", "stays", "created", "after")
	for _, name := range []string{"stays", "created", "after"} {
		d.is(name, "exited 7")
	}
	d.run(0, "start", "stays")
	d.is("stays", "running 0")
	d.run(0, "rm", "--force", "stays", "created", "after")
	d.end("nothing")
}

// Containers end while containerd is down. This version of docker notices that when its daemon is
// restarted, and does not have their exit codes.
func dockerEndsMeanwhile(t *testing.T) {
	d := startDocker(t, true)
	d.start("stays")
	d.start("ends")
	d.start("killed")
	pid, id := d.processOf(moby, d.id("ends")), d.id("killed")
	d.restart(func() {
		require.NoError(t, syscall.Kill(pid, syscall.SIGTERM))
		d.gone(pid)
		d.killShim(id)
	})
	d.answers("stays")
	d.kill()
	d.boot()
	d.is("stays", "running 0")
	d.is("ends", "exited 255")
	d.is("killed", "exited 255")
	d.run(0, "start", "ends", "killed")
	d.is("ends", "running 0")
	d.is("killed", "running 0")
	d.run(0, "rm", "--force", "stays", "ends", "killed")
	d.end("nothing")
}

// answers waits until commands can be run in a container.
func (d docker) answers(name string) {
	d.t.Helper()
	d.becomes("0", "exit code of an exec in "+name, func() string { return d.code("exec", name, "true") })
}

func dockerDaemonKilled(t *testing.T) {
	d := startDocker(t, false)
	d.start("one")
	d.start("always", "--restart=always")
	d.kill()
	d.boot()
	d.is("one", "exited 7")
	d.is("always", "running 0")
	d.run(0, "start", "one")
	d.is("one", "running 0")
	d.run(0, "rm", "--force", "one", "always")
	d.end("nothing")
}

func dockerDaemonKilledLiveRestore(t *testing.T) {
	d := startDocker(t, true)
	d.start("stays")
	d.start("ends")
	d.start("killed")
	pid, id := d.processOf(moby, d.id("ends")), d.id("killed")
	d.kill()
	require.NoError(t, syscall.Kill(pid, syscall.SIGTERM))
	d.gone(pid)
	d.killShim(id)
	d.cleaned(moby, id) // before that, docker would still find the code of a kill
	d.boot()
	d.is("stays", "running 0")
	d.is("ends", "exited 7")
	d.is("killed", "exited 255")
	d.run(5, "exec", "stays", "sh", "-c", "exit 5")

	// Both daemons are killed at once.
	d.kill()
	d.restart()
	d.boot()
	d.is("stays", "running 0")
	d.run(0, "stop", "stays")
	d.is("stays", "exited 7")
	d.run(0, "start", "ends", "killed")
	d.is("ends", "running 0")
	d.is("killed", "running 0")
	d.run(0, "rm", "--force", "stays", "ends", "killed")
	d.end("nothing")
}

func dockerShimKilled(t *testing.T) {
	d := startDocker(t, false)
	d.start("one")
	d.killShim(d.id("one"))
	d.is("one", "exited 137")
	d.run(1, "exec", "one", "true")
	d.run(0, "start", "one")
	d.is("one", "running 0")
	d.killShim(d.id("one"))
	d.is("one", "exited 137")
	d.run(0, "rm", "one")
	d.end("shim socket 2") // the shim would have removed it
}

func dockerShimKilledRestartPolicy(t *testing.T) {
	d := startDocker(t, false)
	d.start("one", "--restart=always")
	d.killShim(d.id("one"))
	d.is("one", "running 0 restarted 1")
	d.run(0, "exec", "one", "true")
	d.run(0, "stop", "one")
	d.is("one", "exited 7 restarted 1")
	d.run(0, "rm", "one")
	d.end("nothing")
}
