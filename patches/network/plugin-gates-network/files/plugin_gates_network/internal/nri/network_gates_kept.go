// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// keptGates is the folder with a file for each open gate. If empty, nothing is recorded.
type keptGates string

func (k keptGates) file(plugin string) string {
	return filepath.Join(string(k), "network-gates", plugin)
}

// has reports whether a plugin's gate was open. An unreadable gate was not: the node receives
// pods a little later then.
func (k keptGates) has(plugin string) bool {
	if k == "" {
		return false
	}
	_, err := os.Stat(k.file(plugin))
	return err == nil
}

// keep records whether a plugin's gate is open.
func (k keptGates) keep(plugin string, open bool) error {
	if k == "" {
		return nil
	}
	path := k.file(plugin)
	if !open {
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("failed to note that plugin %s is disconnected: %w", plugin, err)
		}
		return nil
	}
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = os.WriteFile(path, nil, 0o600)
	}
	if err != nil {
		return fmt.Errorf("failed to note that plugin %s is connected: %w", plugin, err)
	}
	return nil
}
