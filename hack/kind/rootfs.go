// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// stockPrograms are the programs of containerd, and containerdPrograms those of this one, which replace the
// distribution's.
var (
	stockPrograms      = []string{"containerd", "ctr", "containerd-shim-runc-v2"}
	containerdPrograms = append(slices.Clone(stockPrograms), "containerd-shim-sandboxed-runc-v2")
)

func (m Maker) rootfs() string { return filepath.Join(m.Out, "rootfs") }

// inputs returns a hash of all sources of the root file system.
func (m Maker) inputs() (string, error) {
	files := []string{m.base(), m.pause(), m.runc()}
	for _, p := range containerdPrograms {
		files = append(files, filepath.Join(m.Bin, p))
	}
	for _, p := range cniPlugins {
		files = append(files, filepath.Join(m.Tools, p))
	}
	for _, p := range programs {
		files = append(files, m.program(p.name))
	}
	for _, own := range []string{"base.go", "image.go", "images.go", "kubernetes.go", "rootfs.go", "runc.go", "files/Dockerfile.debian"} {
		files = append(files, filepath.Join(m.Root, "hack", "kind", own))
	}
	return sumOf(files...)
}

// cniPlugins are the plugins of the network that network.go gives the nodes.
var cniPlugins = []string{"host-local", "loopback", "ptp"}

// makeRootfs puts the node's root file system together.
func (m Maker) makeRootfs(ctx context.Context) error {
	root := m.rootfs()
	if err := os.RemoveAll(root); err != nil {
		return err
	}
	if err := os.MkdirAll(root, 0o755); err != nil {
		return err
	}
	if _, err := output(exec.CommandContext(ctx, "tar", "-C", root, "-xf", m.base(), "--exclude=./dev/*")); err != nil {
		return err
	}
	for _, step := range []func(context.Context, string) error{m.quiet, m.kindFiles, m.binaries, m.units, m.containerdSettings} {
		if err := step(ctx, root); err != nil {
			return err
		}
	}
	return nil
}

// quiet removes the services that a node in a container does not need, as kind's base image does, and
// settings that would affect the whole kernel.
func (m Maker) quiet(_ context.Context, root string) error {
	for _, pattern := range []string{
		"lib/systemd/system/sysinit.target.wants/systemd-tmpfiles-setup.service",
		"lib/systemd/system/multi-user.target.wants/*",
		"etc/systemd/system/*.wants/*",
		"lib/systemd/system/local-fs.target.wants/*",
		"lib/systemd/system/sockets.target.wants/*udev*",
		"lib/systemd/system/sockets.target.wants/*initctl*",
		"lib/systemd/system/basic.target.wants/*",
		"usr/lib/sysctl.d/*", "etc/sysctl.d/*",
		"var/cache/apt/*", "var/lib/apt/lists/*",
	} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			return err
		}
		for _, path := range found {
			if err := os.RemoveAll(path); err != nil {
				return err
			}
		}
	}
	return os.WriteFile(filepath.Join(root, "etc/systemd/journald.conf"), []byte("[Journal]\nReadKMsg=no\n"), 0o644)
}

// kindFiles copies the files of kind's base image, with the modes that its Dockerfile
// gives them.
func (m Maker) kindFiles(ctx context.Context, root string) error {
	dir, err := m.moduleFolder(ctx, "sigs.k8s.io/kind")
	if err != nil {
		return err
	}
	from := filepath.Join(dir, "images", "base", "files")
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		mode := fs.FileMode(0o644)
		if strings.HasPrefix(rel, "usr/local/bin/") || strings.HasPrefix(rel, "kind/bin/") {
			mode = 0o755
		}
		return copyFile(path, filepath.Join(root, rel), mode)
	})
}

// binaries copies containerd, runc, the CNI plugins and Kubernetes.
func (m Maker) binaries(_ context.Context, root string) error {
	to := map[string]string{m.runc(): "usr/local/sbin"}
	for _, p := range containerdPrograms {
		to[filepath.Join(m.Bin, p)] = "usr/local/bin"
	}
	for _, p := range cniPlugins {
		to[filepath.Join(m.Tools, p)] = "opt/cni/bin"
	}
	for _, p := range []string{"kubeadm", "kubelet", "kubectl", "kube-proxy"} {
		to[m.program(p)] = "usr/bin"
	}
	to[m.program("crictl")] = "usr/local/bin"
	for from, folder := range to {
		if err := copyFile(from, filepath.Join(root, folder, filepath.Base(from)), 0o755); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(root, "kind/version"), []byte(kubernetesVersion), 0o644)
}

// units enables the services of a node.
func (m Maker) units(_ context.Context, root string) error {
	const system = "/etc/systemd/system/"
	wants := filepath.Join(root, system, "multi-user.target.wants")
	if err := os.MkdirAll(wants, 0o755); err != nil {
		return err
	}
	for _, unit := range []string{"containerd.service", "kubelet.service", "undo-mount-hacks.service"} {
		if err := os.Symlink(system+unit, filepath.Join(wants, unit)); err != nil {
			return err
		}
	}
	// It would register formats for the whole kernel.
	if err := os.Symlink("/dev/null", filepath.Join(root, system, "systemd-binfmt.service")); err != nil {
		return err
	}
	return os.MkdirAll(filepath.Join(root, "etc/kubernetes/manifests"), 0o755)
}

// containerdSettings adapts kind's configuration of containerd to all hosts, and writes the
// specification that its containers start from.
func (m Maker) containerdSettings(ctx context.Context, root string) error {
	file := filepath.Join(root, "etc/containerd/config.toml")
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	pause, err := m.pauseImage(ctx)
	if err != nil {
		return err
	}
	settings := string(text)
	for _, change := range [][2]string{
		{"restrict_oom_score_adj = false", "restrict_oom_score_adj = true"},
		{"SystemdCgroup = true", "SystemdCgroup = false"},
		{`sandbox_image = "registry.k8s.io/pause:3.10"`, fmt.Sprintf("sandbox_image = %q", pause)},
	} {
		if !strings.Contains(settings, change[0]) {
			return fmt.Errorf("kind's configuration of containerd has no %s", change[0])
		}
		settings = strings.ReplaceAll(settings, change[0], change[1])
	}
	if err := os.WriteFile(file, []byte(settings), 0o644); err != nil {
		return err
	}
	spec, err := m.baseSpec(ctx)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, "etc/containerd/cri-base.json"), spec, 0o644)
}

// baseSpec is containerd's default specification with kind's hook, and without limits.
func (m Maker) baseSpec(ctx context.Context) ([]byte, error) {
	text, err := output(exec.CommandContext(ctx, filepath.Join(m.Bin, "ctr"), "oci", "spec"))
	if err != nil {
		return nil, err
	}
	var spec map[string]any
	if err := json.Unmarshal([]byte(text), &spec); err != nil {
		return nil, fmt.Errorf("read ctr oci spec: %w", err)
	}
	process, ok := spec["process"].(map[string]any)
	if !ok {
		return nil, errors.New("ctr oci spec has no process")
	}
	delete(process, "rlimits")
	spec["hooks"] = map[string]any{"createContainer": []any{map[string]string{"path": "/kind/bin/mount-product-files.sh"}}}
	return json.Marshal(spec)
}

// copyFile copies a file, with the folders that it needs.
func copyFile(from, to string, mode fs.FileMode) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	if err := remove(to); err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	if _, err = io.Copy(out, in); err == nil {
		err = out.Chmod(mode)
	}
	return errors.Join(err, out.Close())
}
