// SPDX-License-Identifier: Apache-2.0

package missed

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	bolt "go.etcd.io/bbolt"
)

const (
	// tidily is how long ends that were delivered may stay in free pages.
	tidily = 10 * time.Second
	// roomy is the size up to which a file is rewritten for such ends alone. Up to it, any
	// part of the file may be free.
	roomy = 1 << 20
)

// isUntidy reports whether the file has to be rewritten, which removes all traces of ends that
// were delivered. s.mu is held.
func (s *Store) isUntidy() bool {
	w := &s.file
	if w.size <= roomy || len(s.ends) == 0 {
		return w.stained
	}
	return w.free > w.size/2
}

// measure updates the size of the file and of its free part.
func (w *writer) measure() {
	w.size, w.free = 0, 0
	info, err := os.Stat(w.path)
	if w.db == nil || err != nil {
		return
	}
	stats := w.db.Stats()
	w.size, w.free = info.Size(), int64(stats.FreePageN+stats.PendingPageN)*int64(w.db.Info().PageSize)
}

// replace writes the whole store to a new file and renames it over the current one, which stays
// locked until then. A process that waits for the lock notices the change, see openFile.
func (w *writer) replace(all []change) error {
	slices.SortStableFunc(all, func(a, b change) int { return cmp.Compare(a.key, b.key) }) // so that pages are filled
	other := beside(w.path)
	if err := unless(os.ErrNotExist, os.Remove(other)); err != nil {
		return err
	}
	db, err := openFile(other)
	if err == nil {
		err = put(db, all)
	}
	if err == nil && runtime.GOOS == "windows" {
		return w.swapClosed(db, other)
	}
	if err == nil {
		err = os.Rename(other, w.path)
	}
	if err != nil {
		return errors.Join(err, closeFile(db, err), unless(os.ErrNotExist, os.Remove(other)))
	}
	former := w.db
	w.db = db
	return errors.Join(closeFile(former, nil), syncFolder(filepath.Dir(w.path)))
}

// swapClosed renames another file over the current one, on systems where both must be closed
// for that and a folder cannot be synced.
func (w *writer) swapClosed(db *bolt.DB, other string) error {
	err := errors.Join(db.Close(), closeFile(w.db, nil))
	w.db = nil
	if err == nil {
		err = os.Rename(other, w.path)
	}
	if err == nil {
		w.db, err = openFile(w.path)
	}
	return err
}

// closeFile closes a file after err, which may be nil. A broken file stays open: closing it may
// take for ever, and its lock goes with the file.
func closeFile(db *bolt.DB, err error) error {
	if db == nil || errors.Is(err, errBroken) {
		return nil
	}
	return guarded(db.Close)
}

func beside(path string) string { return path + ".new" }

// Remove removes the file of a store that is not open.
func Remove(path string) error {
	return errors.Join(unless(os.ErrNotExist, os.Remove(path)), unless(os.ErrNotExist, os.Remove(beside(path))))
}

// syncFolder makes a rename durable.
func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
