// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/containerd/log"
)

// offFolder is a folder with an empty file for each plugin that is turned off, so that it is off
// after a restart, too. If its name is empty, nothing is kept.
type offFolder string

// kept returns the plugins that are turned off, and since when.
func (dir offFolder) kept() map[string]time.Time {
	if dir == "" {
		return nil
	}
	files, err := os.ReadDir(string(dir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		log.L.WithError(err).Error("NRI plugins that were turned off may be on")
	}
	all := make(map[string]time.Time)
	for _, f := range files[:min(len(files), mostOff)] {
		all[f.Name()] = time.Now()
		if info, err := f.Info(); err == nil {
			all[f.Name()] = info.ModTime()
		}
	}
	return all
}

// add makes the file of a plugin.
func (dir offFolder) add(name string) error {
	if dir == "" {
		return nil
	}
	if err := os.MkdirAll(string(dir), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(string(dir), name), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), dir.sync())
}

// remove removes the file of a plugin.
func (dir offFolder) remove(name string) error {
	if dir == "" {
		return nil
	}
	err := os.Remove(filepath.Join(string(dir), name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	return dir.sync()
}

// sync makes the folder safe from a loss of power.
func (dir offFolder) sync() error {
	d, err := os.Open(string(dir))
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
