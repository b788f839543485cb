// SPDX-License-Identifier: Apache-2.0

package clients

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/testkit/host"
)

// docker is a flow of docker's client, with a daemon that uses the node's containerd.
type docker struct {
	*flow
	daemon *host.Daemon
	end    func(want string, improved ...only)
}

// moby is the namespace of docker's containers.
const moby = "moby"

// startDocker starts a daemon that has busybox. Its containers survive its end only with
// live-restore.
func startDocker(t *testing.T, liveRestore bool) docker {
	t.Helper()
	program, err := Docker()
	require.NoError(t, err)
	n := startNode(t)
	d := docker{daemon: n.Daemon("dockerd"), flow: &flow{t: t, n: n, name: "docker"}}
	d.command = func(args ...string) *exec.Cmd {
		cmd := exec.Command(program, args...)
		// An empty configuration, instead of the user's.
		cmd.Env = append(os.Environ(), "DOCKER_HOST=unix://"+d.in("docker.sock"), "DOCKER_CONFIG="+d.in("docker"))
		return cmd
	}
	settings, err := json.Marshal(map[string]any{
		"hosts": []string{"unix://" + d.in("docker.sock")}, "pidfile": d.in("docker.pid"),
		"data-root": d.in("docker-data"), "exec-root": d.in("exec"), "containerd": n.CRISocket(),
		"bridge": "none", "iptables": false, "ip6tables": false, "live-restore": liveRestore,
		"cgroup-parent": n.PodCgroup(), "exec-opts": []string{"native.cgroupdriver=cgroupfs"},
	})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(d.in("daemon.json"), settings, 0o644))
	t.Cleanup(func() {
		if t.Failed() {
			log, err := d.daemon.Log()
			t.Logf("dockerd's log (%v):\n%s", err, log[max(0, len(log)-8000):])
		}
	})
	d.boot()
	code, out, said := d.try("load", "--input", os.Getenv(archive))
	require.Zero(t, code, "load busybox: %s%s", out, said)
	d.end = d.leaves(moby)
	return d
}

// boot starts the daemon, for the first time or after it was killed.
func (d docker) boot() {
	d.t.Helper()
	program, err := Dockerd()
	require.NoError(d.t, err)
	cmd := exec.Command(program, "--config-file", d.in("daemon.json"))
	cmd.Env = append(os.Environ(), "PATH="+d.in("bin")+":"+os.Getenv("PATH")) // dockerd looks for runc there
	require.NoError(d.t, d.daemon.Boot(within(d.t, patience), cmd, func(context.Context) error {
		if code, out, said := d.try("version"); code != 0 {
			return fmt.Errorf("%s%s", out, said)
		}
		return nil
	}))
}

// kill kills the daemon.
func (d docker) kill() {
	d.t.Helper()
	require.NoError(d.t, d.daemon.End(within(d.t, patience), syscall.SIGKILL))
}

// start runs a container that goes on until it is stopped, and waits until it is ready.
func (d docker) start(name string, options ...string) {
	d.t.Helper()
	d.run(0, append(append(create("run", name, "--detach"), options...), busybox, "sh", "-c", untilTerm)...)
	d.ready(name)
}

// ready waits for the output of untilTerm.
func (d docker) ready(name string) {
	d.t.Helper()
	d.becomes("ready", "logs of "+name, d.printed("logs", "--tail=1", name))
}

// create returns the arguments of a command that creates a container.
func create(command, name string, options ...string) []string {
	return append([]string{command, "--name=" + name, "--network=none", "--security-opt=seccomp=unconfined"}, options...)
}

// is waits until a container is in a state, with an exit code.
func (d docker) is(name, want string) {
	d.t.Helper()
	d.becomes(want, "state of "+name, d.printed("inspect", "--format="+state, name))
}

// state prints the state, the exit code, and further details if any.
const state = "{{.State.Status}} {{.State.ExitCode}}{{if .State.OOMKilled}} OOMKilled{{end}}{{if .RestartCount}} restarted {{.RestartCount}}{{end}}"
