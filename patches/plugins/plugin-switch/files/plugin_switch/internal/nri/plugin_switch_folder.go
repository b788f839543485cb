// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/containerd/log"
)

// offFolder is a folder with an empty file for each plugin that is turned off, so that it is off
// after a restart, too. If its name is empty, nothing is kept.
type offFolder string

// kept returns the plugins that are turned off, and since when. Only files count.
func (dir offFolder) kept() map[string]time.Time {
	if dir == "" {
		return nil
	}
	entries, err := os.ReadDir(string(dir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		log.L.WithError(err).Error("NRI plugins that were turned off may be on")
	}
	all := make(map[string]time.Time)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			all[e.Name()] = info.ModTime()
		}
	}
	return all
}

// add makes the file of a plugin, unless there is one.
func (dir offFolder) add(name string) error {
	if dir == "" {
		return nil
	}
	file := filepath.Join(string(dir), name)
	switch info, err := os.Lstat(file); {
	case err == nil && info.Mode().IsRegular():
		return nil
	case err == nil:
		return fmt.Errorf("%s is no file", file)
	}
	if err := os.MkdirAll(string(dir), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), dir.sync())
}

// remove removes the file of a plugin, and reports whether there was one.
func (dir offFolder) remove(name string) (was bool, err error) {
	if dir == "" {
		return false, nil
	}
	err = os.Remove(filepath.Join(string(dir), name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	}
	return true, dir.sync()
}

// sync makes the folder, and its place in the folder around it, safe from a loss of power.
func (dir offFolder) sync() error {
	var errs []error
	for _, name := range []string{string(dir), filepath.Dir(string(dir))} {
		d, err := os.Open(name)
		if err != nil {
			return err
		}
		errs = append(errs, d.Sync(), d.Close())
	}
	return errors.Join(errs...)
}
