// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
)

// standIns are the images that stand in for those of the node tests, each with its stage in
// files/nodetests/Dockerfile.
var standIns = []struct{ name, stage string }{
	{"registry.k8s.io/e2e-test-images/busybox:1.37.0-2", "busybox"},
	{"registry.k8s.io/e2e-test-images/ipc-utils:1.4", "busybox"},
	{"registry.k8s.io/e2e-test-images/nonroot:1.5", "nonroot"},
	{"registry.k8s.io/e2e-test-images/nonewprivs:1.4", "nonewprivs"},
	{"registry.k8s.io/e2e-test-images/agnhost:2.55", "agnhost"},
	{"registry.k8s.io/e2e-test-images/agnhost:2.66.1", "agnhost"},
}

// nodeTestPrograms are the packages of Kubernetes for the tests and their images, by the name of the
// binary.
var nodeTestPrograms = []struct{ name, pkg string }{
	{"agnhost", "k8s.io/kubernetes/test/images/agnhost"},
	{"nonewprivs", "k8s.io/kubernetes/test/images/nonewprivs"},
	{"ginkgo", "github.com/onsi/ginkgo/v2/ginkgo"},
	{"e2e_node.test", "k8s.io/kubernetes/test/e2e_node"},
}

// agnhostPackages have the programs that tests run in the image of agnhost.
var agnhostPackages = []string{"bash", "curl", "wget", "netcat-openbsd", "iproute2", "socat", "dnsutils", "util-linux"}

// The root file systems of the images agnhost and busybox.
func (m Maker) agnhostRoot() string { return filepath.Join(m.Out, "agnhost.tar") }
func (m Maker) busyboxRoot() string { return filepath.Join(m.Out, "busybox.tar") }

// buildNodeTests builds the programs, unless the same pins and compiler built them already, and the
// root file systems of the images.
func (m Maker) buildNodeTests(ctx context.Context) error {
	module := filepath.Join(m.Root, pins)
	sum, err := sumOf(filepath.Join(module, "go.mod"), filepath.Join(module, "go.sum"))
	if err != nil {
		return err
	}
	for _, p := range nodeTestPrograms {
		err := m.once(p.name, sum+" "+runtime.Version(), "build "+p.name, m.program(p.name), func() error {
			cmd := m.goBuild(ctx, module, m.program(p.name), p.pkg)
			if filepath.Ext(p.name) == ".test" {
				cmd.Args = append([]string{"go", "test", "-c", "-vet=off"}, cmd.Args[2:]...)
			}
			_, err := output(cmd)
			return err
		})
		if err != nil {
			return err
		}
	}
	if err := m.makeDebian(ctx, "busybox-root", m.busyboxRoot(), unpacked, []string{"busybox-static"}); err != nil {
		return err
	}
	return m.makeDebian(ctx, "agnhost-root", m.agnhostRoot(), installed, agnhostPackages)
}

// nodeTestImages returns the path of the archive of the images.
func (m Maker) nodeTestImages() string {
	return filepath.Join(m.nodeTestsFolder("images"), "images.tar")
}

// makeNodeTestImages makes that archive.
func (m Maker) makeNodeTestImages(ctx context.Context, e Engine) error {
	defer m.Step("images of the node tests")()
	dir := m.nodeTestsFolder("images")
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o755)); err != nil {
		return err
	}
	if _, err := output(m.goBuild(ctx, m.Root, filepath.Join(dir, "nmeter"), "./hack/kind/nmeter")); err != nil {
		return err
	}
	for _, p := range []string{"agnhost", "nonewprivs"} {
		if err := copyFile(m.program(p), filepath.Join(dir, p), 0o755); err != nil {
			return err
		}
	}
	files := filepath.Join(m.Root, "hack", "kind", "files", "nodetests")
	for _, root := range []string{m.agnhostRoot(), m.busyboxRoot()} {
		if err := os.Link(root, filepath.Join(dir, filepath.Base(root))); err != nil {
			return err
		}
	}
	save := []string{"save", "--output", m.nodeTestImages()}
	for _, i := range standIns {
		_, err := e.output(ctx, "build", "--quiet", "--target", i.stage, "--tag", i.name, "--file", filepath.Join(files, "Dockerfile"), dir)
		if err != nil {
			return err
		}
		save = append(save, i.name)
	}
	_, err := e.output(ctx, save...)
	return err
}
