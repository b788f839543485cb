// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
)

// Undo removes the files that Install has placed. If something still uses the programs, they stay:
// containerd runs the shims of its pods to clean up, and drops pods whose shim has no program any
// more. users names the pods and processes.
func (n Node) Undo(ctx context.Context) (users []string, err error) {
	_, ours, err := n.isOurs()
	if err != nil {
		return nil, err
	}
	file, err := n.entry(dropInFile)
	if err != nil {
		return nil, err
	}
	if ours {
		if err := errors.Join(os.Remove(file), syncFolder(filepath.Dir(file))); err != nil {
			return nil, err
		}
	}
	unfinished, _ := filepath.Glob(filepath.Join(filepath.Dir(file), temporary)) // the pattern is valid
	for _, name := range unfinished {
		_ = os.Remove(name)
	}
	_ = os.Remove(filepath.Dir(file)) // if nothing else is in it
	if users, err = n.users(ctx); err != nil || len(users) > 0 {
		return users, err
	}
	dir, err := n.path(Bin)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Concat(programs, optional, []string{looker}) {
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
	}
	_ = os.Remove(dir)
	return nil, n.unstage()
}
