// SPDX-License-Identifier: Apache-2.0

package owed

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"time"

	bolt "go.etcd.io/bbolt"
)

const (
	// tidily is how long pages that nothing is left in may stay.
	tidily = 10 * time.Second
	// roomy is up to which size a file may have more free pages than others.
	roomy = 1 << 20
)

// tidy has another file written if nothing is left to be told of what was in this one, or
// most of it is free.
func (s *Store) tidy() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.file.tidies = false
	s.file.whole = s.file.whole || s.isUntidy()
}

func (s *Store) isUntidy() bool { return s.file.loose || s.file.stained && len(s.ends) == 0 }

// replace writes all there is to a file beside, which takes the place of the one there is. Both
// are closed then, as Windows needs it.
func (w *writer) replace(changes []change) error {
	other := beside(w.path)
	if err := unless(os.ErrNotExist, os.Remove(other)); err != nil { // of who was killed here
		return err
	}
	db, err := openFile(other)
	if err != nil {
		return err
	}
	err = put(db, changes)
	if err = errors.Join(err, closeFile(db, err)); err != nil {
		return errors.Join(err, os.Remove(other))
	}
	err = closeFile(w.db, nil)
	w.db = nil
	if err = errors.Join(err, os.Rename(other, w.path)); err != nil {
		return err
	}
	w.db, err = openFile(w.path)
	return errors.Join(err, syncFolder(filepath.Dir(w.path)))
}

// closeFile closes a file that an error came of, or none. One that is broken stays open: to
// close it may take for ever, and its lock goes with the file.
func closeFile(db *bolt.DB, err error) error {
	if db == nil || errors.Is(err, errBroken) {
		return nil
	}
	return guarded(db.Close)
}

// isLoose tells whether most of a file is free, and it is large enough to matter.
func isLoose(db *bolt.DB, path string) bool {
	info, err := os.Stat(path)
	if db == nil || err != nil || info.Size() <= roomy {
		return false
	}
	stats := db.Stats()
	free := int64(stats.FreePageN+stats.PendingPageN) * int64(db.Info().PageSize)
	return free > info.Size()/2
}

func beside(path string) string { return path + ".new" }

// Remove removes the file of a store that is not open.
func Remove(path string) error {
	return errors.Join(unless(os.ErrNotExist, os.Remove(path)), unless(os.ErrNotExist, os.Remove(beside(path))))
}

// syncFolder makes it safe which file has which name.
func syncFolder(path string) error {
	if runtime.GOOS == "windows" {
		return nil // which has no call for it
	}
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
