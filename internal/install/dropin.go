// SPDX-License-Identifier: Apache-2.0

package install

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// written is how the drop-in begins.
const written = "# Written by hookline-install, which removes it with undo.\n"

// temporary is the name of a file that is not written yet.
const temporary = ".hookline-*"

// isOurs reports whether there is a drop-in of that name, and whether Install has written it. A link,
// as one that masks it, is never ours.
func (n Node) isOurs() (there, ours bool, err error) {
	file, err := n.entry(dropInFile)
	if err != nil {
		return false, false, err
	}
	info, err := os.Lstat(file)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return false, false, nil
	case err != nil || !info.Mode().IsRegular():
		return true, false, err
	}
	content, err := os.ReadFile(file)
	return true, bytes.HasPrefix(content, []byte(written)), err
}

// mayWrite returns an error if the drop-in would replace one of the operator.
func (n Node) mayWrite() error {
	there, ours, err := n.isOurs()
	if err == nil && there && !ours {
		err = fmt.Errorf("%s of %s was not written by hookline-install: remove it first", dropInFile, n.Root)
	}
	return err
}

// write writes a file of the node, whole or not at all.
func (n Node) write(name string, content []byte) error {
	file, err := n.entry(name)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(file), temporary)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}
