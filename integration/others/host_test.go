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

// asHost makes a node's namespaces look like a host to plugins: NRI's socket has its default path,
// and writes below the covered folders do not reach the machine.
func asHost(n *node.Node) error {
	socket := filepath.Clean(api.DefaultSocketPath)
	folders := append([]string{filepath.Dir(socket)}, covered...)
	return n.Within(func() error {
		for _, folder := range folders {
			// If the machine does not have the folder, an empty one is left there.
			if err := os.MkdirAll(folder, 0o755); err != nil {
				return err
			}
			if err := unix.Mount("tmpfs", folder, "tmpfs", 0, ""); err != nil {
				return fmt.Errorf("mount a tmpfs on %s: %w", folder, err)
			}
		}
		// Not a mount: containerd makes a new socket at each start.
		return os.Symlink(n.NRISocket(), socket)
	})
}

// covered are the folders that plugins write to.
var covered = []string{"/mnt", "/etc/containers", "/usr/share/containers"}
