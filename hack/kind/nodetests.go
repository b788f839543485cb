// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/hookline-nri/hookline/testkit/wait"
)

// NodeTests are Kubernetes' own tests of a node, e2e_node.
type NodeTests struct {
	Focus, Skip  string        // which tests run, by regular expressions over their names
	Side         int           // how many at a time
	Limit        time.Duration // after which they are ended; the remaining tests count as skipped
	WithoutPause bool          // the built containerd makes pods without a pause container
}

//go:embed files/nodetests/kubelet.yaml
var nodeTestsKubelet string

//go:embed files/nodetests/without-pause.toml
var nodeWithoutPause string

// nodeTestsFolder returns the folder of a part of the tests.
func (m Maker) nodeTestsFolder(name string) string { return filepath.Join(m.Out, "nodetests", name) }

// PrepareNodeTests builds the tests and their images.
func (m Maker) PrepareNodeTests(ctx context.Context, e Engine) error {
	if err := m.buildNodeTests(ctx); err != nil {
		return err
	}
	return m.makeNodeTestImages(ctx, e)
}

// RunNodeTests runs the prepared tests on a node of their own, from the node image, with the built
// containerd or with stock. The log and the report stay in a folder, which it returns.
func (m Maker) RunNodeTests(ctx context.Context, e Engine, stock bool, tests NodeTests) (specs []Spec, folder string, err error) {
	name, step := "hookline", "Kubernetes' node tests on the built containerd"
	if stock {
		name, step = "stock", "Kubernetes' node tests on stock containerd"
	}
	folder = m.nodeTestsFolder(name)
	if err := os.RemoveAll(folder); err != nil {
		return nil, folder, err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, folder, err
	}
	node := nodeContainer{e, "hookline-nodetests-" + name}
	defer m.Step(step)()
	defer func() { err = errors.Join(err, node.remove(context.WithoutCancel(ctx))) }()
	if err := m.startTestNode(ctx, node, stock, tests.WithoutPause); err != nil {
		return nil, folder, err
	}
	ran := node.ginkgo(ctx, filepath.Join(folder, "log"), tests)
	report := filepath.Join(folder, "junit.xml")
	if _, err := e.output(ctx, "cp", node.name+":/e2e/report/junit.xml", report); err != nil {
		return nil, folder, errors.Join(ran, err)
	}
	specs, err = readSpecs(report)
	return specs, folder, err // the report has the failures
}

func (n nodeContainer) remove(ctx context.Context) error {
	_, err := n.e.output(ctx, "rm", "--force", "--volumes", n.name)
	return err
}

// startTestNode starts a node, as kind starts its own, with nothing on it but containerd.
func (m Maker) startTestNode(ctx context.Context, n nodeContainer, stock, withoutPause bool) error {
	_, _ = n.e.output(ctx, "rm", "--force", "--volumes", n.name) // of an interrupted run
	_, err := n.e.output(ctx, "run", "--detach", "--name", n.name, "--hostname", n.name, "--privileged", "--cgroupns=private",
		"--security-opt", "seccomp=unconfined", "--security-opt", "apparmor=unconfined",
		"--tmpfs", "/tmp", "--tmpfs", "/run", "--volume", "/var", "--volume", "/lib/modules:/lib/modules:ro", Image)
	if err != nil {
		return err
	}
	if err := n.answers(ctx); err != nil {
		return err
	}
	network, err := networkOf("10.100.0.0/24")
	if err != nil {
		return err
	}
	for file, text := range map[string]string{
		"/e2e/kubelet.yaml":               nodeTestsKubelet,
		"/e2e/system.yaml":                "os: Linux\n", // the kernel's configuration is not available
		"/etc/cni/net.d/10-pods.conflist": network,
		"/usr/local/bin/sudo":             "#!/bin/sh\nexec \"$@\"\n",
	} {
		if err := n.write(ctx, file, text); err != nil {
			return err
		}
	}
	switch {
	case stock:
		err = m.runStock(ctx, n)
	case withoutPause:
		err = n.makePodsWithoutPause(ctx)
	}
	if err != nil {
		return err
	}
	for _, file := range []string{m.program("e2e_node.test"), m.program("ginkgo"), m.nodeTestImages()} {
		if _, err := n.e.output(ctx, "cp", file, n.name+":/e2e/"+filepath.Base(file)); err != nil {
			return err
		}
	}
	// The tests start a kubelet of their own, from their folder.
	const begin = `set -e
systemctl disable --now kubelet; systemctl daemon-reload; systemctl restart containerd
ctr --namespace k8s.io images import /e2e/images.tar; rm /e2e/images.tar
ln -s /usr/bin/kubelet /e2e/kubelet; chmod 755 /usr/local/bin/sudo; mkdir -p /e2e/report`
	_, err = n.exec(ctx, "sh", "-c", begin)
	return err
}

// runStock lets the unpatched containerd run on a node, from its next restart on.
func (m Maker) runStock(ctx context.Context, n nodeContainer) error {
	if err := m.giveStock(ctx, n.e, n.name); err != nil {
		return err
	}
	const path = stockFolder + ":/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
	return n.write(ctx, "/etc/systemd/system/containerd.service.d/stock.conf",
		"[Service]\nExecStart=\nExecStart="+stockFolder+"/containerd\nEnvironment=PATH="+path+"\n")
}

// makePodsWithoutPause sets the runtime handler of all pods, from the next restart on.
func (n nodeContainer) makePodsWithoutPause(ctx context.Context) error {
	const file = "/etc/containerd/without-pause.toml"
	if err := n.write(ctx, file, nodeWithoutPause); err != nil {
		return err
	}
	_, err := n.exec(ctx, "sed", "-i", `1i imports = ["`+file+`"]`, "/etc/containerd/config.toml")
	return err
}

// answers waits until the node's containerd answers.
func (n nodeContainer) answers(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	return wait.Until(ctx, "containerd of "+n.name, func(ctx context.Context) error {
		_, err := n.exec(ctx, "crictl", "version")
		return err
	})
}

// ginkgo runs the tests, in the same order on each node, and writes their output to a file.
func (n nodeContainer) ginkgo(ctx context.Context, log string, tests NodeTests) (err error) {
	out, err := os.Create(log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	cmd := n.e.command(ctx, "docker", "exec", "--workdir", "/e2e", n.name, "./ginkgo", "--no-color", "-v", "--seed=1",
		"--nodes="+strconv.Itoa(tests.Side), "--timeout="+tests.Limit.String(), "--focus="+tests.Focus, "--skip="+tests.Skip,
		"--output-dir=/e2e/report", "--junit-report=junit.xml", "./e2e_node.test", "--",
		"--prepull-images=false", "--node-name="+n.name, "--report-dir=/e2e/report", "--kubelet-config-file=/e2e/kubelet.yaml",
		"--system-spec-file=/e2e/system.yaml", "--container-runtime-endpoint=unix:///run/containerd/containerd.sock")
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("ginkgo: %w: see %s", err, log)
	}
	return nil
}
