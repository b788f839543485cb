// SPDX-License-Identifier: Apache-2.0

package suites

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/hookline-nri/hookline/testkit/node"
)

// Containerd has the programs of containerd's own tests of a running containerd, built from the
// tested source.
type Containerd struct {
	Tests string // go test -c ./integration
	Shim  string // integration/failpoint/cmd/containerd-shim-runc-fp-v1
	CNI   string // integration/failpoint/cmd/cni-bridge-fp
}

// LeftOut are containerd's tests that do not run here, by the reason.
var LeftOut = []struct{ Why, Tests string }{
	{"restart containerd by its process name, which other processes of the host also have",
		"TestContainerdRestart|TestContainerdRestartSandboxRecover|TestReload100Pods|TestSandboxRemoveWithoutIPLeakage|TestSandboxStopWithNilCNIResult|" +
			"TestRunPodSandboxAndTeardownCNISlow|TestUpdatePodSandboxWithRestart|TestNriPluginContainerdRestart|TestImageVolumeSetupIfContainerdRestarts"},
	{"start a containerd of their own, or of an earlier release",
		"TestContainerCgroupWritable|TestRunContainerWithVolatileOption|TestIssue10244LoopbackV2|TestIssue10467|TestOOMEventMonitor|TestUpgrade|TestRuntimeHandlerUnpackWithSnapshotLabels"},
	{"need Docker or the registry's own answers", "TestImageLoad|TestCRIImagePullTimeout"},
	{"does not wait for the trap that the shell of its container sets before it stops it", "TestContainerStopSignals"},
	{"does not wait for its subscription before it causes the events that it counts", "TestIssue7496_ShouldRetryShutdown"},
}

// withoutRestart leaves out the part of a test that restarts containerd.
const withoutRestart = "/CleanupAfterRestart"

// handler configures a runtime whose shim and network fail as a pod's annotations say. A test of
// exec waits for the timeout.
const handler = `
[plugins."io.containerd.cri.v1.runtime"]
drain_exec_sync_io_timeout = "10s"

[plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc-fp]
runtime_type = "io.containerd.runc-fp.v1"
cni_conf_dir = %q
cni_max_conf_num = 1
pod_annotations = ["io.containerd.runtime.v2.shim.failpoint.*"]
`

const failingNetwork = `{
  "cniVersion": "1.0.0",
  "name": "failpoint",
  "plugins": [{
    "type": "cni-bridge-fp", "bridge": "cni-fp", "isGateway": true,
    "ipam": {"type": "host-local", "ranges": [[{"subnet": "10.99.0.0/16"}]], "routes": [{"dst": "0.0.0.0/0"}], "dataDir": %q},
    "capabilities": {"io.kubernetes.cri.pod-annotations": true}
  }]
}`

// The paths in which the tests look for NRI and for shims.
const (
	nriSocket   = "/run/nri-test.sock"
	shimSockets = "/run/containerd/s"
)

// Containerd runs containerd's tests whose names match a regular expression, on a node of its own.
// If match is empty, it runs all but those in LeftOut. Tests that fail are no error.
func (r Registry) Containerd(ctx context.Context, o Options, c Containerd, match string) (results Results, err error) {
	failing, err := filepath.Abs(o.Folder + "-net")
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(failing, 0o755); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(failing, "10-failpoint.conflist"), fmt.Appendf(nil, failingNetwork, o.Folder+"/addresses-fp"), 0o644); err != nil {
		return nil, err
	}
	o.Node.Config = fmt.Sprintf(handler, failing)
	err = r.on(ctx, o, func(n served, folder, registry string) error {
		plugins, _ := n.CNI()
		for link, program := range map[string]string{
			filepath.Join(plugins, "cni-bridge-fp"):                        c.CNI,
			filepath.Join(n.Folder(), "bin", "containerd-shim-runc-fp-v1"): c.Shim,
		} {
			if err := os.Symlink(program, link); err != nil {
				return err
			}
		}
		if err := n.Within(func() error { return expose(n.Node) }); err != nil {
			return err
		}
		bin, err := filepath.Abs(o.Node.Bin)
		if err != nil {
			return err
		}
		list := filepath.Join(folder, "images.toml")
		if err := os.WriteFile(list, fmt.Appendf(nil, imageList, registry), 0o644); err != nil {
			return err
		}
		args := append(containerdArgs(n.CRISocket(), match), "-build-dir="+bin, "-image-list="+list)
		ended := run(ctx, n, folder, c.Tests, args...)
		if err := ctx.Err(); err != nil {
			return err
		}
		if results, err = Printed(filepath.Join(folder, output)); err != nil {
			return fmt.Errorf("tests of containerd: %w", errors.Join(ended, err))
		}
		return nil
	})
	return results, err
}

// imageList names the image of most tests at the registry's address, since a client of containerd
// itself pulls it without CRI's configuration.
const imageList = `BusyBox = "%s/` + project + `busybox:1.36"
`

// containerdArgs returns the flags of the tests. No process has the name of the program to restart.
func containerdArgs(socket, match string) []string {
	var skip []string
	for _, l := range LeftOut {
		for test := range strings.SplitSeq(l.Tests, "|") {
			skip = append(skip, "^"+test+"$")
		}
	}
	return []string{
		"-test.v", "-test.timeout=20m", "-test.run=" + match, "-test.skip=" + strings.Join(append(skip, withoutRestart), "|"),
		"-cri-endpoint=unix://" + socket, "-containerd-bin=no-such-containerd",
	}
}

// expose mounts the node's sockets of NRI and of shims at the paths in which the tests look for
// them, in the node's mount namespace. An empty file and an empty folder are left on the host, for
// any node.
func expose(n *node.Node) error {
	file, err := os.OpenFile(nriSocket, os.O_CREATE|os.O_RDONLY, 0o600)
	if err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	// The node's folder is made with its first shim.
	for _, folder := range []string{n.ShimSockets(), shimSockets} {
		if err := os.MkdirAll(folder, 0o711); err != nil {
			return err
		}
	}
	for from, to := range map[string]string{n.NRISocket(): nriSocket, n.ShimSockets(): shimSockets} {
		if err := unix.Mount(from, to, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("mount %s on %s: %w", from, to, err)
		}
	}
	return nil
}

var verdict = regexp.MustCompile(`^\s*--- (PASS|FAIL|SKIP): (\S+)`)

// Printed reads the output of go test -v.
func Printed(file string) (_ Results, err error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	results := Results{}
	scanner := bufio.NewScanner(f)
	for scanner.Scan() {
		if m := verdict.FindStringSubmatch(scanner.Text()); m != nil {
			results[m[2]] = Result{State: map[string]string{"PASS": "passed", "FAIL": "failed", "SKIP": "skipped"}[m[1]]}
		}
	}
	if err := scanner.Err(); err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	if results.Count("passed")+results.Count("failed") == 0 {
		return nil, fmt.Errorf("%s: no test ran", file)
	}
	return results, nil
}
