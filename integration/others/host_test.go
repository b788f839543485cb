// SPDX-License-Identifier: Apache-2.0

package others

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/containerd/nri/pkg/api"

	"github.com/hookline-nri/hookline/testkit/node"
)

// asHost makes a node's namespaces look like a host to plugins: NRI's socket is where it is by
// default, and what they write below covered goes to no folder of the machine.
func asHost(n *node.Node) error {
	socket := filepath.Clean(api.DefaultSocketPath)
	folders := append([]string{filepath.Dir(socket)}, covered...)
	return n.Within(func() error {
		for _, folder := range folders {
			// An empty folder is left on the machine, where it has none.
			if err := os.MkdirAll(folder, 0o755); err != nil {
				return err
			}
			if err := unix.Mount("tmpfs", folder, "tmpfs", 0, ""); err != nil {
				return fmt.Errorf("mount a tmpfs on %s: %w", folder, err)
			}
		}
		// Not a mount: the socket is a new one after each start of containerd.
		return os.Symlink(n.NRISocket(), socket)
	})
}

// covered are folders that plugins write to.
var covered = []string{"/mnt", "/etc/containers", "/usr/share/containers"}
