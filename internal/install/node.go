// SPDX-License-Identifier: Apache-2.0

package install

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	securejoin "github.com/cyphar/filepath-securejoin"
)

// Node is a node, by its root file system.
type Node struct {
	Root string // "/" for this machine

	// run runs a program of the node and returns what it writes to stdout and stderr; chroot,
	// unless a test replaces it.
	run func(ctx context.Context, n Node, program string, args ...string) (out, log string, err error)
}

// path returns the path of a file of the node. No link leads out of its root.
func (n Node) path(name string) (string, error) {
	return securejoin.SecureJoin(n.Root, name)
}

// entry returns the path of a file of the node that may itself be a link.
func (n Node) entry(name string) (string, error) {
	dir, err := n.path(path.Dir(name))
	return filepath.Join(dir, path.Base(name)), err
}

func (n Node) read(name string) ([]byte, error) {
	path, err := n.path(name)
	if err != nil {
		return nil, err
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%s of %s: %w", name, n.Root, err)
	}
	return content, nil
}

// ask runs a program of the node.
func (n Node) ask(ctx context.Context, program string, args ...string) (out, log string, err error) {
	run := n.run
	if run == nil {
		run = chroot
	}
	if out, log, err = run(ctx, n, program, args...); err != nil {
		return "", "", fmt.Errorf("%s of %s: %w", strings.Join(append([]string{program}, args...), " "), n.Root, err)
	}
	return out, log, nil
}

// chroot runs a program with the node's root as its own.
func chroot(ctx context.Context, n Node, program string, args ...string) (out, log string, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	root, err := filepath.Abs(n.Root)
	if err != nil {
		return "", "", err
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env = "/", []string{"PATH=" + searched}
	if root != "/" {
		cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root}
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = time.Second // a child of a wrapper may keep them
	if err := cmd.Run(); err != nil {
		return "", "", fmt.Errorf("%w %s", err, strings.TrimSpace(stderr.String()))
	}
	return stdout.String(), stderr.String(), nil
}
