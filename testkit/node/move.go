// SPDX-License-Identifier: Apache-2.0

package node

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/hookline-nri/hookline/testkit/host"
)

// Move makes the node run the containerd of another folder from the next Boot on, and new pods its
// shim. Running pods keep their shim.
func (n *Node) Move(bin string) error {
	program, err := filepath.Abs(filepath.Join(bin, shim))
	if err == nil {
		err = host.Executable(bin, "containerd", "make all-builds")
	}
	if err != nil {
		return fmt.Errorf("move node to another containerd: %w", err)
	}
	link := filepath.Join(n.paths.bin(), shim)
	if err := os.Symlink(program, link+".new"); err != nil {
		return err
	}
	n.options.Bin = bin
	return os.Rename(link+".new", link)
}
