// SPDX-License-Identifier: Apache-2.0

package node

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// shimSandboxes makes the shim create the sandboxes of the node's only runtime handler.
const shimSandboxes = `version = 4

[plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc]
sandboxer = "shim"
`

// SandboxesByShim makes the shim create the sandboxes of pods, instead of containerd. folder has a
// shim that can do that, under the name of the one that it replaces. The folder becomes Bin:
// containerd is linked there.
func (o *Options) SandboxesByShim(folder string) error {
	containerd, err := filepath.Abs(filepath.Join(o.Bin, "containerd"))
	if err == nil {
		err = os.Symlink(containerd, filepath.Join(folder, "containerd"))
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("link containerd beside its shim: %w", err)
	}
	o.Bin, o.Config = folder, shimSandboxes
	return nil
}
