// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Maker makes node image and cluster.
type Maker struct {
	Root    string // of the repository
	Out     string // the folder of all results
	Bin     string // the folder of the built containerd
	Stock   string // the folder of the stock containerd
	Tools   string // the folder of the CNI plugins
	Network string // of the cluster's pods: CNI, also if it is empty, or Bridge
	Step    func(what string) (end func())
}

// pins is the module that pins Kubernetes, etcd, kind and crictl.
const pins = "hack/tools/kubernetes"

// kubernetesVersion is the version of its module. The linker sets it in the binaries.
const kubernetesVersion = "v1.37.1"

// programs are the packages of the pinned module for node and cluster, by the name of the binary, in
// the order in which they are built.
var programs = []struct{ name, pkg string }{
	{"kind", "sigs.k8s.io/kind"},
	{"kubeadm", "k8s.io/kubernetes/cmd/kubeadm"},
	{"kubelet", "k8s.io/kubernetes/cmd/kubelet"},
	{"kubectl", "k8s.io/kubernetes/cmd/kubectl"},
	{"kube-apiserver", "k8s.io/kubernetes/cmd/kube-apiserver"},
	{"kube-controller-manager", "k8s.io/kubernetes/cmd/kube-controller-manager"},
	{"kube-scheduler", "k8s.io/kubernetes/cmd/kube-scheduler"},
	{"kube-proxy", "k8s.io/kubernetes/cmd/kube-proxy"},
	{"etcd", "go.etcd.io/etcd/server/v3"},
	{"crictl", "sigs.k8s.io/cri-tools/cmd/crictl"},
}

// program returns the path of one of them.
func (m Maker) program(name string) string { return filepath.Join(m.Out, "bin", name) }

// goBuild builds a static binary of a package of a module.
func (m Maker) goBuild(ctx context.Context, module, file, pkg string) *exec.Cmd {
	link := "-s -w"
	for _, value := range []string{"gitVersion=" + kubernetesVersion, "gitMajor=1", "gitMinor=37", "gitTreeState=clean"} {
		link += " -X k8s.io/component-base/version." + value
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", link, "-o", file, pkg)
	cmd.Dir = module
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-buildvcs=false")
	return cmd
}

// build builds the named programs, unless the same pins and compiler built them already.
func (m Maker) build(ctx context.Context, names ...string) error {
	module := filepath.Join(m.Root, pins)
	for _, p := range programs {
		if len(names) > 0 && !slices.Contains(names, p.name) {
			continue
		}
		sum, err := sumOf(filepath.Join(module, "go.mod"), filepath.Join(module, "go.sum"))
		if err != nil {
			return err
		}
		err = m.once(p.name, sum+" "+runtime.Version(), "build "+p.name, m.program(p.name), func() error {
			_, err := output(m.goBuild(ctx, module, m.program(p.name), p.pkg))
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// once does a step whose result is a file or folder, unless the result exists and was made of the same
// inputs (of).
func (m Maker) once(name, of, step, result string, do func() error) error {
	stamp := filepath.Join(m.Out, "made", name)
	was, err := os.ReadFile(stamp)
	if _, missing := os.Stat(result); err == nil && missing == nil && string(was) == of {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(stamp), 0o755); err != nil {
		return err
	}
	if err := remove(stamp); err != nil {
		return err
	}
	defer m.Step(step)()
	if err := do(); err != nil {
		return fmt.Errorf("%s: %w", step, err)
	}
	return os.WriteFile(stamp, []byte(of), 0o644)
}

// sumOf returns a hash of the names and contents of files.
func sumOf(files ...string) (string, error) {
	h := sha256.New()
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%s %d\n%s", filepath.Base(file), len(text), text)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// moduleFolder returns the folder of a pinned module in the module cache.
func (m Maker) moduleFolder(ctx context.Context, module string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", module)
	cmd.Dir = filepath.Join(m.Root, pins)
	dir, err := output(cmd)
	if err == nil && dir == "" {
		cmd = exec.CommandContext(ctx, "go", "mod", "download", module)
		cmd.Dir = filepath.Join(m.Root, pins)
		if _, err = output(cmd); err == nil {
			return m.moduleFolder(ctx, module)
		}
	}
	return dir, err
}

// tag returns the last part of the name of an image.
func tag(image string) string { return strings.Split(path.Base(image), ":")[0] }
