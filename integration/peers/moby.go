// SPDX-License-Identifier: Apache-2.0

package peers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/moby/moby/client"
	"golang.org/x/sys/unix"

	"github.com/hookline-nri/hookline/testkit/host"
	"github.com/hookline-nri/hookline/testkit/image"
)

// MobyOptions are for a moby.
type MobyOptions struct {
	Bin        string // folder of dockerd
	Containerd string // folder of containerd and its shim, which dockerd starts
	Tools      string // folder of runc
	Pause      string // a static program, which containers run
}

// check returns an error that wraps host.ErrPrerequisite if moby cannot run here.
func (o MobyOptions) check() error {
	if err := host.Check(); err != nil {
		return err
	}
	return errors.Join(
		host.Executable(o.Bin, "dockerd", "make peers"),
		host.Executable(o.Containerd, "containerd", "make build RUNTIME=stock"),
		host.Executable(o.Tools, "runc", "make tools"),
	)
}

// Moby is moby's daemon with its host and containerd. Its containers have no network.
type Moby struct {
	*host.Host
	options MobyOptions
	daemon  *host.Daemon
	client  *client.Client
}

// StartMoby runs a daemon that has image.Name. On error it leaves nothing behind.
func StartMoby(ctx context.Context, options MobyOptions) (_ *Moby, retErr error) {
	if err := options.check(); err != nil {
		return nil, err
	}
	h, err := host.New(ctx, "")
	if err != nil {
		return nil, err
	}
	m := &Moby{Host: h, options: options, daemon: h.Daemon("dockerd")}
	defer func() {
		if retErr != nil {
			retErr = errors.Join(retErr, m.Close())
		}
	}()
	if err := m.write(); err != nil {
		return nil, fmt.Errorf("configure moby: %w", err)
	}
	if err := m.Cover(shims, "shims"); err != nil {
		return nil, err
	}
	if m.client, err = client.New(client.WithHost("unix://" + m.in("docker.sock"))); err != nil {
		return nil, err
	}
	if err := m.Boot(ctx); err != nil {
		return nil, err
	}
	if err := m.load(ctx); err != nil {
		return nil, m.daemon.WithLog(err)
	}
	return m, nil
}

// Close stops and removes all of it, in any state.
func (m *Moby) Close() error {
	var errs []error
	if m.client != nil {
		errs = append(errs, m.client.Close())
	}
	return errors.Join(append(errs, m.Host.Close())...)
}

// Client returns a client of its API.
func (m *Moby) Client() *client.Client { return m.client }

// NRISocket is the path of the socket of NRI.
func (m *Moby) NRISocket() string { return m.in("nri.sock") }

// Log returns its log so far.
func (m *Moby) Log() (string, error) { return m.daemon.Log() }

// Boot starts the daemon, for the first time or after Kill. It returns when the daemon serves its
// API and NRI plugins can connect.
func (m *Moby) Boot(ctx context.Context) error {
	bin, err := filepath.Abs(m.options.Bin)
	if err != nil {
		return err
	}
	cmd := exec.Command(filepath.Join(bin, "dockerd"), "--config-file", m.in("daemon.json"))
	cmd.Env = append(os.Environ(), "PATH="+m.in("bin")+":"+os.Getenv("PATH")) // dockerd looks for containerd and runc there
	return m.daemon.Boot(ctx, cmd, m.ready)
}

// Kill kills the daemon and the containerd that it has started. Containers keep running.
func (m *Moby) Kill(ctx context.Context) error { return m.daemon.End(ctx, unix.SIGKILL) }

// Reload makes the daemon reload its configuration, which restarts NRI.
func (m *Moby) Reload() error { return unix.Kill(m.daemon.PID(), unix.SIGHUP) }

func (m *Moby) ready(ctx context.Context) error {
	if _, err := m.client.Ping(ctx, client.PingOptions{}); err != nil {
		return err
	}
	return host.Accept(ctx, m.NRISocket())
}

func (m *Moby) in(elem ...string) string {
	return filepath.Join(append([]string{m.Folder()}, elem...)...)
}

// write writes the files of moby's folder.
func (m *Moby) write() error {
	for _, folder := range []string{m.in("bin"), m.in("nri", "plugins"), m.in("nri", "conf")} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return err
		}
	}
	for program, folder := range map[string]string{
		"containerd": m.options.Containerd, "containerd-shim-runc-v2": m.options.Containerd, "runc": m.options.Tools,
	} {
		path, err := filepath.Abs(filepath.Join(folder, program))
		if err != nil {
			return err
		}
		if err := os.Symlink(path, m.in("bin", program)); err != nil {
			return err
		}
	}
	settings, err := json.Marshal(map[string]any{
		"hosts": []string{"unix://" + m.in("docker.sock")}, "pidfile": m.in("pid"),
		"data-root": m.in("data"), "exec-root": m.in("exec"),
		"bridge": "none", "iptables": false, "ip6tables": false,
		"seccomp-profile": "unconfined", // runc is built without libseccomp
		"cgroup-parent":   m.PodCgroup(), "exec-opts": []string{"native.cgroupdriver=cgroupfs"},
		"nri-opts": map[string]any{
			"enable": true, "socket-path": m.NRISocket(),
			"plugin-path": m.in("nri", "plugins"), "plugin-config-path": m.in("nri", "conf"),
		},
	})
	if err != nil {
		return err
	}
	return os.WriteFile(m.in("daemon.json"), settings, 0o644)
}

// shims is the folder in which dockerd's containerd has the sockets of its shims.
const shims = "/run/containerd"

// load loads the image.
func (m *Moby) load(ctx context.Context) error {
	program, err := os.ReadFile(m.options.Pause)
	if err != nil {
		return err
	}
	var layout bytes.Buffer
	if err := image.Write(&layout, program); err != nil {
		return err
	}
	loaded, err := m.client.ImageLoad(ctx, &layout)
	if err != nil {
		return fmt.Errorf("load %s: %w", image.Name, err)
	}
	said, err := io.ReadAll(loaded)
	if err = errors.Join(err, loaded.Close()); err != nil {
		return fmt.Errorf("load %s: %w", image.Name, err)
	}
	if _, err := m.client.ImageInspect(ctx, image.Name); err != nil {
		return fmt.Errorf("load %s: %w: moby said %s", image.Name, err, said)
	}
	return nil
}
