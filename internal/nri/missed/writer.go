// SPDX-License-Identifier: Apache-2.0

package missed

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

// A writer writes changes in the background, in one goroutine: each batch in one transaction.
// After a failure, the next write puts the whole store into a new file. The store's lock guards
// all fields, except those that only the goroutine uses.
type writer struct {
	db    *bolt.DB // of the goroutine, nil if there is no file, or it is broken
	size  int64    // of the goroutine: how large the file is
	free  int64    // of the goroutine: how much of that is free
	path  string
	limit int // how many bytes of changes are collected

	open      bool   // whether a file is used
	collected *batch // to be written next
	writing   *batch // being written, nil if none is
	whole     bool   // whether the next write is of the whole store, to a new file
	stained   bool   // whether free pages of the file may have ends in them
	tidies    bool   // whether the clock runs until the file is tidied
	slow      bool   // whether Sync does not wait
	failures  int    // in a row

	added, hurried chan struct{} // of one place each
	clock          *time.Timer
	closing, ended chan struct{}
	once           sync.Once
}

type batch struct {
	changes []change
	size    int           // of the changes
	stains  bool          // whether ends are deleted
	done    chan struct{} // closed when it was written, or writing it failed
}

func newBatch() *batch { return &batch{done: make(chan struct{})} }

const (
	// lazily is how long a change may wait for others if no caller waits for it.
	lazily = 100 * time.Millisecond
	// lockWait is how long to wait for a file that another process has opened.
	lockWait = time.Second
	// shortestRetry and longestRetry bound the time before a failed write is retried.
	shortestRetry, longestRetry = time.Second, time.Minute
)

// Open opens a store. It never fails: if the file cannot be used, it reports that and keeps
// everything in memory. A broken file is replaced.
func Open(opts Options) *Store {
	s := &Store{opts: withDefaults(opts)}
	s.clear()
	s.file = writer{
		path: opts.Path, limit: s.opts.Bytes, collected: newBatch(),
		added: make(chan struct{}, 1), hurried: make(chan struct{}, 1),
		closing: make(chan struct{}), ended: make(chan struct{}),
	}
	if opts.Path == "" {
		close(s.file.ended)
		return s
	}
	if err := s.read(); err != nil {
		s.opts.Failed(fmt.Errorf("missed events are kept in memory only: %w", err))
		close(s.file.ended)
		return s
	}
	s.file.open = true
	s.file.stained = s.file.free > 0 // the content of free pages is unknown
	s.file.tidies, s.file.clock = true, time.NewTimer(tidily)
	s.fit()
	go s.write()
	return s
}

// clear empties the store.
func (s *Store) clear() {
	s.names, s.ends, s.used, s.last = make(map[string]*name), make(map[content]*end), 0, 0
}

func withDefaults(o Options) Options {
	o.TTL = cmp.Or(o.TTL, DefaultTTL)
	o.Bytes = cmp.Or(o.Bytes, DefaultBytes)
	if o.Patience == 0 {
		o.Patience = 2 * time.Second
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Reserved == nil {
		o.Reserved = func(string) bool { return false }
	}
	if o.Noted == nil {
		o.Noted = func(string, string) {}
	}
	if o.Dropped == nil {
		o.Dropped = func(string, string, int) {}
	}
	if o.Crowded == nil {
		o.Crowded = func(string) {}
	}
	if o.Failed == nil {
		o.Failed = func(error) {}
	}
	return o
}

// read opens the file and reads it.
func (s *Store) read() error {
	if err := os.MkdirAll(filepath.Dir(s.file.path), 0o700); err != nil {
		return err
	}
	err := guarded(func() (err error) {
		if s.file.db, err = openFile(s.file.path); err != nil {
			return err
		}
		if err = s.load(s.file.db); err != nil {
			return fmt.Errorf("%w: %w", errBroken, err)
		}
		s.file.measure()
		return unless(os.ErrNotExist, os.Remove(beside(s.file.path))) // of a process killed in replace
	})
	if !errors.Is(err, errBroken) {
		return err
	}
	s.opts.Failed(fmt.Errorf("missed events are lost, %s is replaced: %w", s.file.path, err))
	s.clear()
	s.file.db, s.file.whole = nil, true
	s.file.hurry()
	return nil
}

// openFile opens a file, and holds its lock.
func openFile(path string) (*bolt.DB, error) {
	for {
		var file *os.File
		// The list of free pages is kept in the file. Otherwise bbolt reads all pages in a
		// goroutine of its own to find them, and a broken page ends the process.
		db, err := bolt.Open(path, 0o600, &bolt.Options{
			Timeout: lockWait, FreelistType: bolt.FreelistMapType,
			OpenFile: func(name string, flag int, mode os.FileMode) (_ *os.File, err error) {
				file, err = os.OpenFile(name, flag, mode)
				return file, err
			},
		})
		if err != nil {
			return nil, fmt.Errorf("open %s: %w", path, asBroken(err))
		}
		if isAt(file, path) {
			db.AllocSize = roomy
			return db, nil
		}
		// The process that had the lock has replaced the file.
		if err := db.Close(); err != nil {
			return nil, err
		}
	}
}

// asBroken marks an error as that of a broken file, unless it comes from a lock or the system.
func asBroken(err error) error {
	if errors.Is(err, berrors.ErrTimeout) || errors.As(err, new(syscall.Errno)) {
		return err
	}
	return fmt.Errorf("%w: %w", errBroken, err)
}

// isAt reports whether a file is the one at a path.
func isAt(file *os.File, path string) bool {
	here, err := file.Stat()
	there, errThere := os.Stat(path)
	return err == nil && errThere == nil && os.SameFile(here, there)
}

// Close writes everything that was noted, and closes the file. Later notes are lost.
func (s *Store) Close() {
	s.file.once.Do(func() { close(s.file.closing) })
	<-s.file.ended
}

// write runs as long as the store is open.
func (s *Store) write() {
	defer close(s.file.ended)
	defer s.file.clock.Stop()
	for {
		tidies := false
		select {
		case <-s.file.added:
			s.file.gather()
		case <-s.file.hurried:
		case <-s.file.clock.C:
			tidies = true
		case <-s.file.closing:
			s.end()
			return
		}
		s.flush(tidies)
	}
}

// gather waits for more changes to write in the same transaction.
func (w *writer) gather() {
	timer := time.NewTimer(lazily)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-w.hurried:
	case <-w.closing:
	}
}

// end closes the file.
func (s *Store) end() {
	s.mu.Lock()
	s.file.open = false
	s.mu.Unlock()
	s.flush(false)
	s.flush(true)
	if err := closeFile(s.file.db, nil); err != nil {
		s.opts.Failed(fmt.Errorf("close %s: %w", s.file.path, err))
	}
}

// flush writes the collected batch, or the whole store if that is needed or tidies the file.
func (s *Store) flush(tidies bool) {
	b, all, whole := s.take(tidies)
	if b == nil {
		return
	}
	replaced, untidy, err := s.file.commit(b, all, whole)
	s.file.measure()

	s.mu.Lock()
	s.file.writing, s.file.whole, s.file.slow = nil, s.file.whole || err != nil, err != nil
	s.file.stained = !replaced && (s.file.stained || b.stains || err != nil)
	s.schedule(err, untidy != nil)
	s.mu.Unlock()
	if untidy != nil {
		s.opts.Failed(fmt.Errorf("tidy %s: %w", s.file.path, untidy))
	}
	if err != nil {
		s.opts.Failed(fmt.Errorf("write %s, missed events are in memory only: %w", s.file.path, err))
	}
	close(b.done)
}

// take takes the collected batch and, for a new file, the whole store. whole says whether the
// new file is needed, or only tidies. The batch is nil if there is nothing to do.
func (s *Store) take(tidies bool) (b *batch, all []change, whole bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, whole = s.file.collected, s.file.whole
	s.file.tidies = s.file.tidies && !tidies
	switch {
	case whole || tidies && s.isUntidy():
		all = s.all()
	case len(b.changes) == 0:
		return nil, nil, false
	}
	s.file.collected, s.file.writing, s.file.whole = newBatch(), b, false
	return b, all, whole
}

// commit writes the whole store to a new file, if it is given, or else a batch. If the new file
// was only to tidy and failed, the error is untidy, and the batch is written all the same.
func (w *writer) commit(b *batch, all []change, whole bool) (replaced bool, untidy, err error) {
	if all != nil {
		err = w.replace(all)
		if err == nil || whole || w.db == nil {
			return err == nil, nil, err
		}
		untidy = err
	}
	if len(b.changes) == 0 {
		return false, untidy, nil
	}
	err = put(w.db, b.changes)
	if errors.Is(err, errBroken) {
		w.db = nil
	}
	return false, untidy, err
}

// schedule sets the clock to retry a failed write, or to tidy the file.
func (s *Store) schedule(err error, untidied bool) {
	w := &s.file
	if err != nil {
		w.clock.Reset(min(shortestRetry<<min(w.failures, 10), longestRetry))
		w.failures++
		return
	}
	w.failures = 0
	if w.tidies || !s.isUntidy() {
		return
	}
	w.tidies = true
	if untidied {
		w.clock.Reset(longestRetry)
	} else {
		w.clock.Reset(tidily)
	}
}

// put makes changes in one transaction.
func put(db *bolt.DB, changes []change) error {
	return guarded(func() error {
		return db.Update(func(tx *bolt.Tx) error {
			for _, c := range changes {
				if err := c.apply(tx); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// all returns the changes that write the whole store. s.mu is held.
func (s *Store) all() []change {
	changes := []change{} // not nil: nil is a batch alone
	for _, e := range s.ends {
		changes = append(changes, endOf(e))
	}
	for of, n := range s.names {
		changes = append(changes, presenceOf(of, n))
		for object, stopped := range n.known {
			changes = append(changes, knownOf(of, object, stopped))
		}
		for d := range n.dues() {
			changes = append(changes, missedOf(of, d))
		}
	}
	return changes
}

// The functions below are called with the store's lock held.

func (w *writer) add(c change) {
	if !w.open || w.whole {
		return
	}
	b := w.collected
	b.changes, b.size = append(b.changes, c), b.size+c.size()
	if b.size > w.limit { // the whole store takes less
		b.changes, w.whole = nil, true
	}
	nudge(w.added)
}

func (w *writer) released(e *end) {
	w.collected.stains = true
	w.add(releasedOf(e))
}

// unwritten returns the batch to wait for until everything is in the file, nil if none is.
func (w *writer) unwritten() *batch {
	switch {
	case !w.open || w.slow:
		return nil
	case w.whole, len(w.collected.changes) > 0:
		return w.collected
	}
	return w.writing
}

// stalled has no caller wait for the file any more until a write succeeds.
func (s *Store) stalled(b *batch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-b.done:
		return
	default:
	}
	s.file.slow = true
	s.opts.Failed(fmt.Errorf("write %s: not done after %s, callers no longer wait for it", s.file.path, s.opts.Patience))
}

// hurry has the collected batch written now.
func (w *writer) hurry() { nudge(w.hurried) }

func nudge(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
