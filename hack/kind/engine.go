// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hookline-nri/hookline/testkit/wait"
)

// Engine is a Docker engine.
type Engine struct {
	host string // DOCKER_HOST; empty is docker's default
	pid  int    // the process whose namespaces it is in, if it is one of ours
}

// own reports whether it is one of our engines.
func (e Engine) own() bool { return e.pid != 0 }

// Enter returns the command that runs another one in the network of the engine's ports. It is empty
// if that is the current one.
func (e Engine) Enter() []string {
	if !e.own() {
		return nil
	}
	return []string{"nsenter", "--net=/proc/" + strconv.Itoa(e.pid) + "/ns/net", "--"}
}

// command returns a command that talks to the engine.
func (e Engine) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	line := append(e.Enter(), append([]string{name}, args...)...)
	cmd := exec.CommandContext(ctx, line[0], line[1:]...)
	// The only builder that both engines have. The Dockerfiles have a line or two.
	cmd.Env = append(os.Environ(), "DOCKER_BUILDKIT=0")
	if e.host != "" {
		cmd.Env = append(cmd.Env, "DOCKER_HOST="+e.host)
	}
	return cmd
}

// output runs a command of docker. If it fails, the error has its output.
func (e Engine) output(ctx context.Context, args ...string) (string, error) {
	return output(e.command(ctx, "docker", args...))
}

// output runs a command. If it fails, the error has its output.
func output(cmd *exec.Cmd) (string, error) {
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, strings.TrimSpace(stderr.String()))
	}
	return strings.TrimSpace(stdout.String()), nil
}

// own has the folders of one of our engines.
type own struct {
	data string // images and containers
	run  string // sockets, which need a short path
	log  string
}

func (m Maker) own() own {
	h := fnv.New32a()
	_, _ = h.Write([]byte(m.Out)) // it never fails
	return own{
		data: filepath.Join(m.Out, "engine"),
		run:  fmt.Sprintf("/run/hookline-kind-%08x", h.Sum32()),
		log:  filepath.Join(m.Out, "engine.log"),
	}
}

func (o own) socket() string        { return filepath.Join(o.run, "docker.sock") }
func (o own) exec() string          { return filepath.Join(o.run, "exec") }
func (o own) pidFile() string       { return filepath.Join(o.run, "engine.pid") }
func (o own) dockerPidFile() string { return filepath.Join(o.run, "docker.pid") } // in its own pid namespace
func (o own) tunables() string      { return filepath.Join(o.run, "kernel.json") }
func (o own) cgroup() string        { return filepath.Base(o.run) }

// running returns the engine if it runs.
func (o own) running() (Engine, bool) {
	text, err := os.ReadFile(o.pidFile())
	if err != nil {
		return Engine{}, false
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return Engine{}, false
	}
	// The number may belong to another process by now.
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil || !strings.Contains(string(line), o.data) {
		return Engine{}, false
	}
	return Engine{host: "unix://" + o.socket(), pid: pid}, true
}

// Engine finds an engine that runs: one of ours, or the one that docker finds.
func (m Maker) Engine(ctx context.Context) (Engine, bool) {
	if e, ok := m.own().running(); ok {
		return e, true
	}
	given := Engine{}
	_, err := given.output(ctx, "version", "--format", "{{.Server.Version}}")
	return given, err == nil
}

// AnyEngine finds an engine that runs, or starts one of ours.
func (m Maker) AnyEngine(ctx context.Context) (Engine, error) {
	if e, ok := m.Engine(ctx); ok {
		return e, nil
	}
	return m.startEngine(ctx)
}

// needs returns an error that names the missing program and its package. programs are pairs
// PROGRAM=PACKAGE.
func needs(what string, programs ...string) error {
	for _, p := range programs {
		program, pkg, _ := strings.Cut(p, "=")
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Errorf("%s needs %s: install %s", what, program, pkg)
		}
	}
	return nil
}

// engineText starts the engine in a network of its own, so that none of its bridges
// and filters is the host's.
const engineText = `ip link set lo up && exec dockerd "$@"`

// startEngine starts dockerd in namespaces of its own. Whatever it starts, mounts or
// connects ends with its first process.
func (m Maker) startEngine(ctx context.Context) (Engine, error) {
	const what = "no engine answers (docker version), and starting one"
	if os.Geteuid() != 0 {
		return Engine{}, errors.New(what + " needs root")
	}
	if err := needs(what, "dockerd=docker.io", "docker=docker.io", "unshare=util-linux", "nsenter=util-linux", "ip=iproute2"); err != nil {
		return Engine{}, err
	}
	defer m.Step("start an engine of our own")()
	o := m.own()
	// The files of a killed engine: dockerd is process 1 of its namespace, and a pid file with that
	// number always names a living process.
	for _, left := range []string{o.dockerPidFile(), o.exec()} {
		if err := os.RemoveAll(left); err != nil {
			return Engine{}, fmt.Errorf("remove the files of a killed engine: %w", err)
		}
	}
	for _, folder := range []string{o.data, o.run} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return Engine{}, err
		}
	}
	if err := keepTunables(o.tunables()); err != nil {
		return Engine{}, err
	}
	args := []string{
		"--net", "--mount", "--pid", "--fork", "--kill-child=KILL", "--mount-proc",
		"sh", "-c", engineText, "dockerd",
		"--data-root", o.data, "--exec-root", o.exec(), "--pidfile", o.dockerPidFile(),
		"--host", "unix://" + o.socket(), "--cgroup-parent", "/" + o.cgroup(),
	}
	if !mayRaiseLimits() {
		lowcap := filepath.Join(m.Out, "lowcap")
		if _, err := output(m.goBuild(ctx, m.Root, lowcap, "./hack/kind/lowcap")); err != nil {
			return Engine{}, err
		}
		args = append(args, "--add-runtime", "lowcap="+lowcap, "--default-runtime", "lowcap")
	}
	ended, err := o.start(args)
	if err != nil {
		return Engine{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	err = wait.Until(ctx, "the engine", func(ctx context.Context) error {
		select {
		case <-ended:
			return fmt.Errorf("dockerd has ended: see %s: %w", o.log, wait.ErrPermanent)
		default:
		}
		e, ok := o.running()
		if !ok {
			return errors.New("its process is still being started") // its command line is empty for a moment
		}
		_, err := e.output(ctx, "version")
		return err
	})
	e, _ := o.running()
	return e, err
}

// start starts the engine so that it outlives this process. The channel is closed if it ends early.
func (o own) start(args []string) (ended <-chan struct{}, err error) {
	log, err := os.Create(o.log)
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }() // the engine has it now
	cmd := exec.Command("unshare", args...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start an engine: %w", err)
	}
	done := make(chan struct{})
	go func() { defer close(done); _ = cmd.Wait() }() // its log says why
	return done, os.WriteFile(o.pidFile(), []byte(strconv.Itoa(cmd.Process.Pid)), 0o600)
}

// mayRaiseLimits reports whether this process has CAP_SYS_RESOURCE.
func mayRaiseLimits() bool {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err != nil {
		return false
	}
	return data[0].Effective&(1<<unix.CAP_SYS_RESOURCE) != 0
}

// stopEngine ends our engine with everything that runs on it, and removes its files. Without such an
// engine it does nothing.
func (m Maker) stopEngine(ctx context.Context) error {
	o := m.own()
	if e, ok := o.running(); ok {
		defer m.Step("stop the engine")()
		// With the first process of a pid namespace all others end, and so does unshare, its
		// parent.
		if err := syscall.Kill(child(e.pid), syscall.SIGKILL); err != nil {
			return fmt.Errorf("end the engine: %w", err)
		}
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		if err := wait.Until(ctx, "the end of the engine", func(context.Context) error {
			if _, ok := o.running(); ok {
				return errors.New("it runs")
			}
			return o.removeCgroups()
		}); err != nil {
			return err
		}
	}
	if err := putTunablesBack(o.tunables()); err != nil {
		return err
	}
	return errors.Join(o.removeCgroups(), os.RemoveAll(o.run), os.RemoveAll(o.data), remove(o.log))
}

// child returns the only child of a process, or the process itself if it has none yet.
func child(pid int) int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		return pid
	}
	first, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return pid
	}
	return first
}

// removeCgroups removes the engine's cgroups, in each hierarchy.
func (o own) removeCgroups() error {
	roots, err := filepath.Glob("/sys/fs/cgroup/*/" + o.cgroup())
	if err != nil {
		return err
	}
	var errs []error
	for _, root := range append(roots, "/sys/fs/cgroup/"+o.cgroup()) {
		var folders []string
		_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				folders = append(folders, path)
			}
			return nil
		})
		for i := len(folders) - 1; i >= 0; i-- {
			errs = append(errs, remove(folders[i]))
		}
	}
	return errors.Join(errs...)
}

// remove removes a file or an empty folder, which may not exist.
func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
