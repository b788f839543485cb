// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/hookline-nri/hookline/testkit/image"
	"github.com/hookline-nri/hookline/testkit/wait"
)

// pause is the program of the pods' sandboxes.
func (m Maker) pause() string { return filepath.Join(m.Out, "bin", "pause") }

// buildPause builds that program.
func (m Maker) buildPause(ctx context.Context) error {
	if err := os.MkdirAll(filepath.Dir(m.pause()), 0o755); err != nil {
		return err
	}
	_, err := output(m.goBuild(ctx, m.Root, m.pause(), "./testkit/pause"))
	return err
}

// wanted returns the images that kubeadm needs for a control plane.
func (m Maker) wanted(ctx context.Context) ([]string, error) {
	text, err := output(exec.CommandContext(ctx, m.program("kubeadm"), "config", "images", "list", "--kubernetes-version", kubernetesVersion))
	return strings.Fields(text), err
}

func (m Maker) pauseImage(ctx context.Context) (string, error) {
	names, err := m.wanted(ctx)
	if err != nil {
		return "", err
	}
	for _, name := range names {
		if tag(name) == "pause" {
			return name, nil
		}
	}
	return "", fmt.Errorf("kubeadm lists no image of pause: %s", names)
}

// without are the images that the cluster does not need: kube-proxy is a service of the nodes.
var without = []string{"kube-proxy", "coredns"}

// importImages puts the images of the control plane, each with one binary, into containerd's store in a
// root file system.
func (m Maker) importImages(ctx context.Context, root string) (err error) {
	names, err := m.wanted(ctx)
	if err != nil {
		return err
	}
	ctr, end, err := m.startContainerd(ctx, filepath.Join(root, "var/lib/containerd"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	for _, name := range names {
		file := m.program(tag(name))
		if tag(name) == "pause" {
			file = m.pause()
		}
		if slices.Contains(without, tag(name)) {
			continue
		}
		program, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		var layout bytes.Buffer
		made := image.Image{Name: name, Path: "/usr/local/bin/" + tag(name), Program: program}
		if tag(name) == "pause" {
			made.Path = "/pause"
		}
		if err := made.Write(&layout); err != nil {
			return err
		}
		cmd := ctr("--namespace", "k8s.io", "images", "import", "-")
		cmd.Stdin = &layout
		if _, err := output(cmd); err != nil {
			return err
		}
	}
	return nil
}

// startContainerd starts the built containerd on a store, without CRI. It returns a ctr that talks to
// it, and a function that ends it.
func (m Maker) startContainerd(ctx context.Context, store string) (ctr func(...string) *exec.Cmd, end func() error, err error) {
	dir, err := os.MkdirTemp("", "hookline-kind-")
	if err != nil {
		return nil, nil, err
	}
	socket := filepath.Join(dir, "c.sock")
	config := filepath.Join(dir, "config.toml")
	const text = "version = 3\ndisabled_plugins = [\"io.containerd.grpc.v1.cri\", \"io.containerd.cri.v1.runtime\", \"io.containerd.cri.v1.images\", \"io.containerd.nri.v1.nri\"]\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return nil, nil, err
	}
	var log bytes.Buffer
	daemon := exec.Command(filepath.Join(m.Bin, "containerd"), "--config", config, "--address", socket, "--root", store, "--state", filepath.Join(dir, "state"))
	daemon.Stdout, daemon.Stderr = &log, &log
	if err := daemon.Start(); err != nil {
		return nil, nil, err
	}
	end = func() error {
		err := daemon.Process.Signal(syscall.SIGTERM)
		_ = daemon.Wait() // it ends by the signal
		return errors.Join(err, os.RemoveAll(dir))
	}
	ctr = func(args ...string) *exec.Cmd {
		return exec.CommandContext(ctx, filepath.Join(m.Bin, "ctr"), append([]string{"--address", socket}, args...)...)
	}
	wctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if err := wait.Until(wctx, "containerd", func(context.Context) error { _, err := output(ctr("version")); return err }); err != nil {
		return nil, nil, errors.Join(err, end(), fmt.Errorf("its log: %s", log.String()))
	}
	return ctr, end, nil
}
