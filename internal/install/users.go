// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// bundles are where containerd keeps the tasks, and the sandboxes, that shims serve, below its state
// folder.
var bundles = []string{"io.containerd.runtime.v2.task", "io.containerd.sandbox.controller.v1.shim"}

// users returns what uses the installed programs: the pods whose shim is one of them and, on this
// machine, the processes that run from them.
func (n Node) users(ctx context.Context) (users []string, err error) {
	state, err := n.state(ctx)
	if err != nil {
		return nil, err
	}
	for _, of := range bundles {
		found, err := filepath.Glob(filepath.Join(state, of, "*", "*", "shim-binary-path"))
		if err != nil {
			return nil, err
		}
		for _, name := range found {
			program, err := os.ReadFile(name)
			if err == nil && path.Dir(string(program)) == Bin {
				users = append(users, filepath.Base(filepath.Dir(name)))
			}
		}
	}
	if n.Root == "/" {
		users = append(users, processes()...)
	}
	slices.Sort(users)
	return slices.Compact(users), nil
}

// processes returns the processes that run from the installed programs, but for this one.
func processes() (running []string) {
	links, _ := filepath.Glob("/proc/[0-9]*/exe") // the pattern is valid
	for _, link := range links {
		program, err := os.Readlink(link)
		pid := filepath.Base(filepath.Dir(link))
		if err != nil || path.Dir(program) != Bin || pid == strconv.Itoa(os.Getpid()) {
			continue
		}
		running = append(running, fmt.Sprintf("%s (process %s)", path.Base(strings.TrimSuffix(program, " (deleted)")), pid))
	}
	return running
}

// state returns containerd's state folder: that of its command line, or else of its configuration
// with imported files, as the installed containerd reads it.
func (n Node) state(ctx context.Context) (string, error) {
	distribution, _, err := n.distribution()
	if err != nil {
		distribution = command{} // it may be gone
	}
	if set := distribution.option("state"); set != "" {
		return n.path(set)
	}
	if s, _, err := n.dump(ctx, path.Join(Bin, "containerd"), distribution.config()); err == nil {
		if set, is := s["state"].(string); is {
			return n.path(set)
		}
	}
	content, err := n.read(distribution.config())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	set := struct {
		State string `toml:"state"`
	}{State: "/run/containerd"}
	if err := toml.Unmarshal(content, &set); err != nil {
		return "", fmt.Errorf("%s of %s: %w", distribution.config(), n.Root, err)
	}
	return n.path(set.State)
}
