// SPDX-License-Identifier: Apache-2.0

package others

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/hookline-nri/hookline/testkit/node"
)

// policies are the settings of memory-policy: it runs a program before that of a container, which
// sets the policy.
const policies = `injectMpolset: true
classes:
- name: bound
  policy:
    mode: MPOL_BIND
    nodes: "0"
`

// memoryPolicy is memory-policy of nri-plugins.
func memoryPolicy() plugin {
	return plugin{
		name:      "memory-policy of nri-plugins",
		registers: "10-memory-policy",
		gives:     "memory policy",
		asks:      annotated("class.memory-policy.nri.io", "bound"),
		command: func(n *node.Node) ([]string, error) {
			file := filepath.Join(n.Folder(), "memory-policy.yaml")
			command := []string{filepath.Join(programs, "memory-policy"), "-idx=10", "-name=memory-policy", "-config=" + file, "-v"}
			return command, os.WriteFile(file, []byte(policies), 0o644)
		},
		has: func(_ *node.Node, _ string, pid int) error {
			maps, err := os.ReadFile(filepath.Join("/proc", fmt.Sprint(pid), "numa_maps"))
			if err != nil {
				return err
			}
			if first, _, _ := strings.Cut(string(maps), "\n"); !strings.Contains(first, " bind:0 ") {
				return fmt.Errorf("the memory of process %d is not bound to node 0: %s", pid, first)
			}
			return nil
		},
	}
}
