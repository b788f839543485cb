// SPDX-License-Identifier: Apache-2.0

package peers

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/hookline-nri/hookline/testkit/cri"
	"github.com/hookline-nri/hookline/testkit/host"
	"github.com/hookline-nri/hookline/testkit/image"
)

// CRIOOptions are for a CRI-O.
type CRIOOptions struct {
	Bin    string       // folder of crio and pinns
	Tools  string       // folder of runc and the CNI plugins ptp, host-local and loopback
	Images http.Handler // a registry that has all images, by their names without registry
	// The timeout of plugins for a request and for a registration; CRI-O's default where zero.
	PluginTimeout time.Duration
}

// check returns an error that wraps host.ErrPrerequisite if CRI-O cannot run here.
func (o CRIOOptions) check() error {
	if err := host.Check(); err != nil {
		return err
	}
	for _, name := range []string{"runc", "ptp", "host-local", "loopback"} {
		if err := host.Executable(o.Tools, name, "make tools"); err != nil {
			return err
		}
	}
	if _, err := exec.LookPath("conmon"); err != nil {
		return fmt.Errorf("%w: no conmon in PATH, which CRI-O needs to run containers: install the package conmon", host.ErrPrerequisite)
	}
	return nil
}

// CRIO is a CRI-O with its host, registry and network.
type CRIO struct {
	*host.Host
	options CRIOOptions
	daemon  *host.Daemon
	server  *http.Server
	cri     *cri.Client
}

// StartCRIO runs a CRI-O, ready for pods. On error it leaves nothing behind.
func StartCRIO(ctx context.Context, options CRIOOptions) (_ *CRIO, retErr error) {
	if err := options.check(); err != nil {
		return nil, err
	}
	h, err := host.New(ctx, "")
	if err != nil {
		return nil, err
	}
	c := &CRIO{Host: h, options: options, daemon: h.Daemon("crio")}
	defer func() {
		if retErr != nil {
			retErr = errors.Join(retErr, c.Close())
		}
	}()
	registry, err := c.serve()
	if err != nil {
		return nil, err
	}
	if err := c.write(registry); err != nil {
		return nil, fmt.Errorf("configure CRI-O: %w", err)
	}
	if c.cri, err = cri.Dial(c.CRISocket(), image.Name, c.PodCgroup()); err != nil {
		return nil, err
	}
	if err := c.Boot(ctx); err != nil {
		return nil, err
	}
	pause := &runtime.ImageSpec{Image: image.Name}
	if _, err := c.cri.Images.PullImage(ctx, &runtime.PullImageRequest{Image: pause}); err != nil {
		return nil, c.daemon.WithLog(fmt.Errorf("pull %s: %w", image.Name, err))
	}
	return c, nil
}

// serve serves the images at an address of the host's network.
func (c *CRIO) serve() (address string, err error) {
	listener, err := c.Listen("127.0.0.1:0")
	if err != nil {
		return "", err
	}
	c.server = &http.Server{Handler: c.options.Images, ReadHeaderTimeout: time.Minute}
	go func() { _ = c.server.Serve(listener) }() // ends with Close
	return listener.Addr().String(), nil
}

// Close stops and removes all of it, in any state.
func (c *CRIO) Close() error {
	var errs []error
	if c.cri != nil {
		errs = append(errs, c.cri.Close())
	}
	if c.server != nil {
		errs = append(errs, c.server.Close())
	}
	return errors.Join(append(errs, c.Host.Close())...)
}

// CRISocket is the path of the socket of CRI.
func (c *CRIO) CRISocket() string { return c.in("c.sock") }

// NRISocket is the path of the socket of NRI.
func (c *CRIO) NRISocket() string { return c.in("nri.sock") }

// CRI returns its CRI client.
func (c *CRIO) CRI() *cri.Client { return c.cri }

// CNI returns the folders of CNI plugins, of CNI configurations, and of CNI's state.
func (c *CRIO) CNI() (bin, conf, state string) {
	return c.in("cni", "bin"), c.in("cni", "conf"), filepath.Join(c.VarLib(), "cni")
}

// Log returns its log so far.
func (c *CRIO) Log() (string, error) { return c.daemon.Log() }

// Boot starts CRI-O, for the first time or after Stop or Kill. It returns when CRI-O serves CRI,
// its network is ready if one is configured, and NRI plugins can connect.
func (c *CRIO) Boot(ctx context.Context) error {
	bin, err := filepath.Abs(c.options.Bin)
	if err != nil {
		return err
	}
	cmd := exec.Command(filepath.Join(bin, "crio"), "--config", c.in("crio.conf"), "--config-dir", c.in("no-drop-ins"))
	cmd.Env = append(os.Environ(), "HOME="+c.in("home"), "CONTAINERS_STORAGE_CONF="+c.in("storage.conf"))
	return c.daemon.Boot(ctx, cmd, c.ready)
}

// Stop asks CRI-O to exit and waits for it. Pods keep running.
func (c *CRIO) Stop(ctx context.Context) error { return c.daemon.End(ctx, unix.SIGTERM) }

// Kill kills CRI-O. Pods keep running.
func (c *CRIO) Kill(ctx context.Context) error { return c.daemon.End(ctx, unix.SIGKILL) }

func (c *CRIO) ready(ctx context.Context) error {
	if err := host.Accept(ctx, c.CRISocket(), c.NRISocket()); err != nil {
		return err
	}
	status, err := c.cri.Runtime.Status(ctx, &runtime.StatusRequest{})
	if err != nil {
		return err
	}
	_, conf, _ := c.CNI()
	networks, err := os.ReadDir(conf)
	if err != nil {
		return err
	}
	for _, condition := range status.GetStatus().GetConditions() {
		if condition.GetType() == runtime.NetworkReady && len(networks) == 0 {
			continue
		}
		if !condition.GetStatus() {
			return fmt.Errorf("%s is false: %s", condition.GetType(), condition.GetMessage())
		}
	}
	return nil
}

func (c *CRIO) in(elem ...string) string {
	return filepath.Join(append([]string{c.Folder()}, elem...)...)
}

// settings is the folder in which CRI-O's libraries look for a user's settings.
func (c *CRIO) settings() string { return c.in("home", ".config", "containers") }

// write writes the files of CRI-O's folder.
func (c *CRIO) write(registry string) error {
	plugins, networks, _ := c.CNI()
	for _, folder := range []string{plugins, networks, c.in("bin"), c.in("no-drop-ins"), c.in("hooks"), c.in("cdi"), c.in("nri", "plugins"), c.in("nri", "conf"), c.settings()} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return err
		}
	}
	tools, err := filepath.Abs(c.options.Tools)
	if err != nil {
		return err
	}
	for _, name := range []string{"ptp", "host-local", "loopback", "portmap", "tuning", "bridge"} {
		if err := os.Symlink(filepath.Join(tools, name), filepath.Join(plugins, name)); err != nil {
			return err
		}
	}
	conmon, err := exec.LookPath("conmon")
	if err != nil {
		return err
	}
	pinns, err := filepath.Abs(filepath.Join(c.options.Bin, "pinns"))
	if err != nil {
		return err
	}
	var from strings.Builder
	for _, name := range registries {
		fmt.Fprintf(&from, "[[registry]]\nprefix = %q\nlocation = %q\ninsecure = true\n\n", name, registry)
	}
	runc, err := c.runc(tools)
	if err != nil {
		return err
	}
	timeouts := ""
	if c.options.PluginTimeout > 0 {
		timeouts = fmt.Sprintf("nri_plugin_request_timeout = %[1]q\nnri_plugin_registration_timeout = %[1]q\n", c.options.PluginTimeout)
	}
	settings := strings.NewReplacer(
		"@FOLDER@", c.Folder(), "@IMAGE@", image.Name, "@CONMON@", conmon, "@PINNS@", pinns,
		"@RUNC@", runc, "@TIMEOUTS@", timeouts,
	)
	for file, text := range map[string]string{
		c.in("crio.conf"): settings.Replace(crioText),
		filepath.Join(c.settings(), "registries.conf"): from.String(),
		c.in("storage.conf"):                           settings.Replace(storageText),
		c.in("policy.json"):                            `{"default": [{"type": "insecureAcceptAnything"}]}`,
		filepath.Join(networks, "10-peers.conflist"):   fmt.Sprintf(networkText, c.in("cni", "addresses")),
	} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// runc returns the program to run as runc: that of the tools or, if no process may lower its score
// for the OOM killer, a script that removes the score of CRI-O's pause process first. containerd
// has a setting for that.
func (c *CRIO) runc(tools string) (program string, err error) {
	runc := filepath.Join(tools, "runc")
	may, err := unix.PrctlRetInt(unix.PR_CAPBSET_READ, unix.CAP_SYS_RESOURCE, 0, 0, 0)
	if err != nil {
		return "", fmt.Errorf("ask for CAP_SYS_RESOURCE: %w", err)
	}
	if may == 1 {
		return runc, nil
	}
	program = c.in("bin", "runc")
	return program, os.WriteFile(program, []byte(strings.ReplaceAll(runcText, "@RUNC@", runc)), 0o755)
}

// runcText removes negative scores for the OOM killer from a bundle, and runs runc.
const runcText = `#!/bin/sh -e
for arg; do
	if [ "$last" = --bundle ]; then
		sed -i 's/"oomScoreAdj": *-[0-9]*/"oomScoreAdj": 0/' "$arg/config.json"
	fi
	last=$arg
done
exec @RUNC@ "$@"
`

// registries are the registries of the images of pods and tests.
var registries = []string{"localhost", "registry.k8s.io", "gcr.io"}

// storageText configures the library that keeps images and layers.
const storageText = `[storage]
driver = "overlay"
graphroot = "@FOLDER@/storage"
runroot = "@FOLDER@/run"
`

// crioText sets each path whose default is outside the folder.
const crioText = `[crio]
root = "@FOLDER@/storage"
runroot = "@FOLDER@/run"
storage_driver = "overlay"
log_dir = "@FOLDER@/logs"
version_file = "@FOLDER@/version"
version_file_persist = "@FOLDER@/version-kept"
clean_shutdown_file = "@FOLDER@/clean"

[crio.api]
listen = "@FOLDER@/c.sock"
stream_port = "0"

[crio.runtime]
default_runtime = "runc"
conmon = "@CONMON@"
conmon_cgroup = "pod"
cgroup_manager = "cgroupfs"
pinns_path = "@PINNS@"
namespaces_dir = "@FOLDER@/ns"
container_exits_dir = "@FOLDER@/exits"
container_attach_socket_dir = "@FOLDER@/attach"
hooks_dir = ["@FOLDER@/hooks"]
cdi_spec_dirs = ["@FOLDER@/cdi"]
enable_pod_events = true
irqbalance_config_restore_file = "disable"

[crio.runtime.runtimes.runc]
runtime_path = "@RUNC@"
runtime_root = "@FOLDER@/runc"
monitor_path = "@CONMON@"
monitor_cgroup = "pod"

[crio.image]
pause_image = "@IMAGE@"
signature_policy = "@FOLDER@/policy.json"
signature_policy_dir = "@FOLDER@/policies"

[crio.network]
network_dir = "@FOLDER@/cni/conf"
plugin_dirs = ["@FOLDER@/cni/bin"]

[crio.nri]
enable_nri = true
nri_listen = "@FOLDER@/nri.sock"
nri_plugin_dir = "@FOLDER@/nri/plugins"
nri_plugin_config_dir = "@FOLDER@/nri/conf"
@TIMEOUTS@`

// networkText configures the pods' network: a veth pair each, addresses from a file.
const networkText = `{
  "cniVersion": "1.1.0",
  "name": "peers",
  "plugins": [{
    "type": "ptp",
    "ipam": {
      "type": "host-local",
      "ranges": [[{"subnet": "10.88.0.0/21"}]],
      "routes": [{"dst": "0.0.0.0/0"}],
      "dataDir": %q
    }
  }]
}
`
