// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Image is the name of the node image.
const Image = "hookline-node:dev"

// inputsLabel is the label of an image that names its sources.
const inputsLabel = "dev.hookline.inputs"

// Released is the node image that the pinned kind uses by default.
const Released = "kindest/node:v1.37.0"

// The bases of the node image.
const (
	Auto   = "auto"   // Released if it can be pulled, otherwise Debian
	Debian = "debian" // of Debian's packages and Go modules, without a registry
)

//go:embed files/Dockerfile
var overReleased string

//go:embed files/Dockerfile.debian
var overDebian string

// MakeImage makes the node image on an engine, unless the engine has one of the same sources. base is
// Auto, Debian, or the name of a released image. It returns the base of the image.
func (m Maker) MakeImage(ctx context.Context, e Engine, base string) (over string, err error) {
	if err := m.haveContainerd(); err != nil {
		return "", err
	}
	if err := os.MkdirAll(m.Out, 0o755); err != nil {
		return "", err
	}
	if base == Auto {
		base = Debian
		if m.reaches(ctx, e, Released) {
			base = Released
		}
	}
	if base == Debian {
		return "Debian's packages, Kubernetes " + kubernetesVersion, m.debianImage(ctx, e)
	}
	return base, m.releasedImage(ctx, e, base)
}

// haveContainerd returns an error for a binary that was not built yet.
func (m Maker) haveContainerd() error {
	for _, file := range []string{filepath.Join(m.Bin, "containerd"), filepath.Join(m.Tools, "ptp")} {
		if _, err := os.Stat(file); err != nil {
			return fmt.Errorf("no %s: run make build tools", file)
		}
	}
	return nil
}

// reaches reports whether an engine has an image, or can pull it. Our engines cannot reach a
// registry.
func (m Maker) reaches(ctx context.Context, e Engine, image string) bool {
	if e.own() {
		return false
	}
	if _, err := e.output(ctx, "image", "inspect", image); err == nil {
		return true
	}
	defer m.Step("pull " + image)()
	_, err := e.output(ctx, "pull", image)
	return err == nil
}

// releasedImage puts containerd over a released node image.
func (m Maker) releasedImage(ctx context.Context, e Engine, base string) error {
	var files []string
	for _, p := range containerdPrograms {
		files = append(files, filepath.Join(m.Bin, p))
	}
	inputs, err := sumOf(files...)
	if err != nil {
		return err
	}
	if inputs += " " + base; e.has(ctx, inputs) {
		return nil
	}
	defer m.Step("node image over " + base)()
	return m.dockerBuild(ctx, e, overReleased, inputs, files, "--build-arg", "BASE="+base)
}

// debianImage makes the node image without a registry.
func (m Maker) debianImage(ctx context.Context, e Engine) error {
	if os.Geteuid() != 0 {
		return errors.New("making a node image of Debian's packages needs root")
	}
	if err := m.makeBase(ctx); err != nil {
		return err
	}
	if err := m.build(ctx); err != nil {
		return err
	}
	if err := m.buildRunc(ctx); err != nil {
		return err
	}
	if err := m.buildPause(ctx); err != nil {
		return err
	}
	inputs, err := m.inputs()
	if err != nil {
		return err
	}
	archive := filepath.Join(m.Out, "rootfs.tar")
	err = m.once("rootfs", inputs, "the node's root file system", archive, func() error {
		if err := m.makeRootfs(ctx); err != nil {
			return err
		}
		if err := m.importImages(ctx, m.rootfs()); err != nil {
			return err
		}
		if _, err := output(exec.CommandContext(ctx, "tar", "-C", m.rootfs(), "--xattrs", "--numeric-owner", "-cf", archive, ".")); err != nil {
			return err
		}
		return os.RemoveAll(m.rootfs())
	})
	if err != nil || e.has(ctx, inputs) {
		return err
	}
	defer m.Step("node image of that root file system")()
	return m.dockerBuild(ctx, e, overDebian, inputs, []string{archive})
}

// has reports whether an engine has the node image, made of the same sources.
func (e Engine) has(ctx context.Context, inputs string) bool {
	was, err := e.output(ctx, "image", "inspect", "--format", "{{index .Config.Labels \""+inputsLabel+"\"}}", Image)
	return err == nil && was == inputs
}

// dockerBuild builds the node image from a Dockerfile and a context, into which files are linked.
func (m Maker) dockerBuild(ctx context.Context, e Engine, dockerfile, inputs string, files []string, args ...string) (err error) {
	dir := filepath.Join(m.Out, "context")
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := os.WriteFile(filepath.Join(dir, "Dockerfile"), []byte(dockerfile), 0o644); err != nil {
		return err
	}
	for _, file := range files {
		if err := os.Link(file, filepath.Join(dir, filepath.Base(file))); err != nil {
			return err
		}
	}
	build := e.command(ctx, "docker", append(append([]string{"build", "--quiet", "--label", inputsLabel + "=" + inputs, "--tag", Image}, args...), dir)...)
	build.Stdout = io.Discard
	var stderr strings.Builder
	build.Stderr = &stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("docker build: %w: %s", err, strings.TrimSpace(stderr.String()))
	}
	return nil
}
