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
	// tidily is how long what was told may stay in free pages.
	tidily = 10 * time.Second
	// roomy is the size up to which a file is written anew for that alone, and up to which
	// it may have more free pages than others.
	roomy = 1 << 20
)

// isUntidy tells whether the file is to be written anew: nothing is left of what was told
// then. s.mu is held.
func (s *Store) isUntidy() bool {
	w := &s.file
	if w.size <= roomy || len(s.ends) == 0 {
		return w.stained
	}
	return w.free > w.size/2
}

// measure finds out how large the file is, and how much of it is free.
func (w *writer) measure() {
	w.size, w.free = 0, 0
	info, err := os.Stat(w.path)
	if w.db == nil || err != nil {
		return
	}
	stats := w.db.Stats()
	w.size, w.free = info.Size(), int64(stats.FreePageN+stats.PendingPageN)*int64(w.db.Info().PageSize)
}

// replace writes all there is to a file beside, which takes the place of the one there is.
// That is locked until then: who waits for it finds that it is another one, see openFile.
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

// swapClosed has another file take the place of the one there is where neither may be open
// for that, nor can the folder be synced.
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

// closeFile closes a file that an error came of, or none. One that is broken stays open: to
// close it may take for ever, and its lock goes with the file.
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

// syncFolder makes it safe which file has which name.
func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
