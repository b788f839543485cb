// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookline-nri/hookline/testkit/wait"
)

// errNoShim is returned for a pod that has no shim.
var errNoShim = errors.New("no shim")

// Quiet waits until none of the programs that do a step for containerd runs: CNI plugins, runc, and
// the shim if it starts or deletes another one. A containerd that was killed leaves them behind, and
// they go on.
func (n *Node) Quiet(ctx context.Context) error {
	return wait.Until(ctx, "the end of programs that containerd ran", func(context.Context) error {
		pids, err := n.Processes()
		if err != nil {
			return err
		}
		for _, pid := range pids {
			if words := commandLine(pid); isStep(words) {
				return fmt.Errorf("process %d runs: %q", pid, words)
			}
		}
		return nil
	})
}

// isStep reports, by its command line, whether a process is a program that exits by itself. The first
// process of a container that was not started yet, "runc init", does not.
func isStep(words []string) bool {
	if len(words) > 1 && filepath.Base(words[0]) == "sh" {
		words = words[1:]
	}
	if len(words) == 0 || !filepath.IsAbs(words[0]) {
		return false
	}
	switch filepath.Base(words[0]) {
	case shim, sandboxedShim:
		return slices.Contains(words, "start") || slices.Contains(words, "delete")
	case "runc":
		return words[len(words)-1] != "init"
	case "ptp", "host-local", "loopback", "pass":
		return true
	}
	return false
}

// Shim returns the process id of the shim of a pod, by the pod's id.
func (n *Node) Shim(pod string) (int, error) {
	pids, err := n.Processes()
	if err != nil {
		return 0, err
	}
	for _, pid := range pids {
		words := commandLine(pid)
		if len(words) > 0 && isShim(words[0]) && slices.Contains(words, pod) && !isStep(words) {
			return pid, nil
		}
	}
	return 0, fmt.Errorf("pod %s: %w", pod, errNoShim)
}

func isShim(program string) bool {
	name := filepath.Base(program)
	return name == shim || name == sandboxedShim
}

// commandLine returns the words of a command line. They are empty for a process that is exiting.
func commandLine(pid int) []string {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil || len(line) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(line), "\x00"), "\x00")
}
