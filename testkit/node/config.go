// SPDX-License-Identifier: Apache-2.0

package node

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/hookline-nri/hookline/testkit/image"
)

const (
	shim          = "containerd-shim-runc-v2"
	sandboxedShim = "containerd-shim-sandboxed-runc-v2" // makes pods without a pause container
	network       = "hookline"                          // name of the CNI network
)

// paths are all paths of a node, below its folder. Folders with sockets have short names: the path of
// a socket must fit in 107 bytes, and containerd allows 38 bytes for the folder of its shims'
// sockets.
type paths string

func (p paths) in(elem ...string) string {
	return filepath.Join(append([]string{string(p)}, elem...)...)
}

func (p paths) root() string      { return p.in("root") }
func (p paths) state() string     { return p.in("state") }
func (p paths) grpc() string      { return p.in("c.sock") }
func (p paths) nri() string       { return p.in("nri.sock") }
func (p paths) debug() string     { return p.in("d.sock") }
func (p paths) shims() string     { return p.in("s") }
func (p paths) runc() string      { return p.in("runc") }
func (p paths) bin() string       { return p.in("bin") }
func (p paths) cniBin() string    { return p.in("cni", "bin") }
func (p paths) cniConf() string   { return p.in("cni", "conf") }
func (p paths) cdi() string       { return p.in("cdi") }
func (p paths) addresses() string { return p.in("cni", "addresses") }
func (p paths) config() string    { return p.in("config.toml") }
func (p paths) more() string      { return p.in("more.toml") }

// write lays out the folder for containerd.
func (p paths) write(o Options) error {
	for _, folder := range []string{p.bin(), p.cniBin(), p.cniConf()} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return err
		}
	}
	// Tests may add programs of their own to the folders, or replace these.
	for link, program := range map[string]string{
		filepath.Join(p.bin(), "runc"):          filepath.Join(o.Tools, "runc"),
		filepath.Join(p.bin(), shim):            filepath.Join(o.Bin, shim),
		filepath.Join(p.bin(), sandboxedShim):   filepath.Join(o.Bin, sandboxedShim),
		filepath.Join(p.cniBin(), "ptp"):        filepath.Join(o.Tools, "ptp"),
		filepath.Join(p.cniBin(), "host-local"): filepath.Join(o.Tools, "host-local"),
		filepath.Join(p.cniBin(), "loopback"):   filepath.Join(o.Tools, "loopback"),
		filepath.Join(p.cniBin(), "pass"):       filepath.Join(o.Tools, "loopback"),
		filepath.Join(p.cniBin(), "portmap"):    filepath.Join(o.Tools, "portmap"), // these three for networks that name them
		filepath.Join(p.cniBin(), "tuning"):     filepath.Join(o.Tools, "tuning"),
		filepath.Join(p.cniBin(), "bridge"):     filepath.Join(o.Tools, "bridge"),
	} {
		program, err := filepath.Abs(program)
		if err != nil {
			return err
		}
		if err := os.Symlink(program, link); err != nil {
			return err
		}
	}
	conflist := o.Network
	if conflist == "" {
		chained := ""
		if o.Chained {
			chained = `, {"type": "pass"}`
		}
		conflist = fmt.Sprintf(conflistText, network, p.addresses(), chained)
	}
	files := map[string]string{
		filepath.Join(p.cniConf(), "10-hookline.conflist"): conflist,
		p.config(): p.containerd(o),
	}
	if o.Config != "" {
		files[p.more()] = o.Config
	}
	for path, content := range files {
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// conflistText is the pods' network: a veth pair for each pod, addresses from a file, and no rules of
// a packet filter. Any range works, since the other end is in the node's own network namespace.
const conflistText = `{
  "cniVersion": "1.1.0",
  "name": %q,
  "plugins": [{
    "type": "ptp",
    "ipam": {
      "type": "host-local",
      "ranges": [[{"subnet": "10.88.0.0/21"}]],
      "routes": [{"dst": "0.0.0.0/0"}],
      "dataDir": %q
    }
  }%s]
}
`

// containerd returns the configuration of containerd. It sets every path whose default is outside of
// the folder.
func (p paths) containerd(o Options) string {
	level := o.LogLevel
	if level == "" {
		level = "debug"
	}
	var imports, timeouts strings.Builder
	noTraces := noTracesText
	if o.Traces {
		noTraces = ""
	}
	if o.Config != "" {
		fmt.Fprintf(&imports, "%q", p.more())
	}
	for key, d := range map[string]time.Duration{
		"plugin_request_timeout":      o.RequestTimeout,
		"plugin_registration_timeout": o.RegistrationTimeout,
	} {
		if d > 0 {
			fmt.Fprintf(&timeouts, "%s = %q\n", key, d)
		}
	}
	sandboxes := ""
	if o.WithoutPause {
		sandboxes = fmt.Sprintf(withoutPauseText, filepath.Join(p.bin(), sandboxedShim))
	}
	return strings.NewReplacer(
		"@IMPORTS@", imports.String(),
		"@NO_TRACES@", noTraces,
		"@LEVEL@", level,
		"@ROOT@", p.root(),
		"@STATE@", p.state(),
		"@GRPC@", p.grpc(),
		"@DEBUG@", p.debug(),
		"@METRICS@", metrics,
		"@SHIMS@", p.shims(),
		"@OPT@", p.in("opt"),
		"@IMAGE@", image.Name,
		"@CNI_BIN@", p.cniBin(),
		"@CNI_CONF@", p.cniConf(),
		"@CDI@", p.cdi(),
		"@SANDBOXES@", sandboxes,
		"@RUNC@", filepath.Join(p.bin(), "runc"),
		"@RUNC_ROOT@", p.runc(),
		"@NRI_OFF@", strconv.FormatBool(o.WithoutNRI),
		"@NRI@", p.nri(),
		"@NRI_PLUGINS@", p.in("nri", "plugins"),
		"@NRI_CONF@", p.in("nri", "conf"),
		"@NRI_TIMEOUTS@", timeouts.String(),
	).Replace(configText)
}

// noTracesText are the plugins that send traces.
const noTracesText = `
  "io.containerd.internal.v1.tracing",
  "io.containerd.tracing.processor.v1.otlp",`

// withoutPauseText makes the shim at a path create the sandboxes of pods.
const withoutPauseText = `runtime_path = %q
sandboxer = "shim"
disable_pause_image_pull = true
`

// configText leaves out plugins that pods do not need here, so that a node starts fast.
const configText = `version = 4
root = "@ROOT@"
state = "@STATE@"
imports = [@IMPORTS@]
disabled_plugins = [
  "io.containerd.snapshotter.v1.blockfile",
  "io.containerd.snapshotter.v1.btrfs",
  "io.containerd.snapshotter.v1.devmapper",
  "io.containerd.snapshotter.v1.erofs",
  "io.containerd.snapshotter.v1.native",
  "io.containerd.snapshotter.v1.zfs",
  "io.containerd.differ.v1.erofs",
  "io.containerd.mount-handler.v1.erofs",
  "io.containerd.image-verifier.v1.bindir",
  "io.containerd.monitor.container.v1.restart",@NO_TRACES@
]

[debug]
level = "@LEVEL@"

[plugins."io.containerd.server.v1.grpc"]
address = "@GRPC@"

[plugins."io.containerd.server.v1.ttrpc"]
address = "@GRPC@.ttrpc"

[plugins."io.containerd.server.v1.debug"]
address = "@DEBUG@"

[plugins."io.containerd.server.v1.metrics"]
address = "@METRICS@"

[plugins."io.containerd.shim.v1.manager"]
socket_dir = "@SHIMS@"

[plugins."io.containerd.internal.v1.opt"]
path = "@OPT@"

[plugins."io.containerd.cri.v1.images".pinned_images]
sandbox = "@IMAGE@"

[plugins."io.containerd.cri.v1.runtime"]
restrict_oom_score_adj = true
netns_mounts_under_state_dir = true
cdi_spec_dirs = ["@CDI@"]

[plugins."io.containerd.cri.v1.runtime".cni]
bin_dirs = ["@CNI_BIN@"]
conf_dir = "@CNI_CONF@"

[plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
@SANDBOXES@
[plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc.options]
BinaryName = "@RUNC@"
Root = "@RUNC_ROOT@"

[plugins."io.containerd.nri.v1.nri"]
disable = @NRI_OFF@
socket_path = "@NRI@"
plugin_path = "@NRI_PLUGINS@"
plugin_config_path = "@NRI_CONF@"
@NRI_TIMEOUTS@`
