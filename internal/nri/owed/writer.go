// SPDX-License-Identifier: Apache-2.0

package owed

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

// A writer writes changes behind, in one goroutine: those of a batch in one
// transaction. Where it fails, what there is then is written whole the next time.
// It is guarded by the store's lock, but for what only its goroutine has.
type writer struct {
	db   *bolt.DB // of the goroutine, nil if there is no file
	path string

	open      bool   // whether there is a file
	collected *batch // what is to be written next
	writing   *batch // what is being written, nil if nothing is
	whole     bool   // whether all has to be written
	slow      bool   // whether Sync does not wait
	failures  int    // in a row

	added, hurried chan struct{} // of one place each
	closing, ended chan struct{}
	once           sync.Once
}

type batch struct {
	changes []change
	done    chan struct{} // closed when it was written, or failed to be
}

func newBatch() *batch { return &batch{done: make(chan struct{})} }

const (
	// lazily is how long a change may wait for others if nobody waits for it.
	lazily = 100 * time.Millisecond
	// lockWait is how long to wait for a file that another process has opened.
	lockWait = time.Second
	// shortestRetry and longestRetry bound the time after which a file that failed is
	// tried again.
	shortestRetry, longestRetry = time.Second, time.Minute
)

// Open opens a store. It never fails: where there is no file that can be used, that is
// reported, and all is kept in memory. One that is broken is set aside, with ".broken"
// behind its name.
func Open(opts Options) *Store {
	s := &Store{opts: withDefaults(opts), names: make(map[string]*name)}
	s.file = writer{
		path: opts.Path, collected: newBatch(),
		added: make(chan struct{}, 1), hurried: make(chan struct{}, 1),
		closing: make(chan struct{}), ended: make(chan struct{}),
	}
	if opts.Path == "" {
		close(s.file.ended)
		return s
	}
	if err := s.read(); err != nil {
		s.opts.Failed(fmt.Errorf("what plugins are owed is kept in memory alone: %w", err))
		close(s.file.ended)
		return s
	}
	s.file.open = true
	go s.write()
	return s
}

func withDefaults(o Options) Options {
	o.TTL = cmp.Or(o.TTL, DefaultTTL)
	o.Count = cmp.Or(o.Count, DefaultCount)
	o.Bytes = cmp.Or(o.Bytes, DefaultBytes)
	if o.Patience == 0 {
		o.Patience = 2 * time.Second
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Noted == nil {
		o.Noted = func(string, string) {}
	}
	if o.Dropped == nil {
		o.Dropped = func(string, string, int) {}
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
	err := s.tryRead()
	if !errors.Is(err, errBroken) {
		return err
	}
	s.opts.Failed(fmt.Errorf("what plugins are owed is lost, the file is set aside as %s: %w", s.file.aside(), err))
	if err := os.Rename(s.file.path, s.file.aside()); err != nil {
		return err
	}
	return s.tryRead()
}

func (w *writer) aside() string { return w.path + ".broken" }

func (s *Store) tryRead() error {
	err := guarded(func() (err error) {
		s.file.db, err = openFile(s.file.path)
		if err != nil {
			return err
		}
		s.names, s.last, err = load(s.file.db)
		if err != nil {
			return fmt.Errorf("%w: %w", errBroken, err)
		}
		return nil
	})
	if err != nil {
		// It is left open if it is broken: to close it may take for ever, and its lock
		// goes with the file.
		s.file.db, s.names = nil, make(map[string]*name)
	}
	return err
}

func openFile(path string) (*bolt.DB, error) {
	// The list of free pages is in the file: bbolt would find it by reading all pages
	// in a goroutine of its own, and end the process where one is broken.
	db, err := bolt.Open(path, 0o600, &bolt.Options{Timeout: lockWait, FreelistType: bolt.FreelistMapType})
	if err == nil {
		return db, nil
	}
	for _, broken := range []error{berrors.ErrInvalid, berrors.ErrChecksum, berrors.ErrVersionMismatch} {
		if errors.Is(err, broken) {
			return nil, fmt.Errorf("%w: %w", errBroken, err)
		}
	}
	return nil, fmt.Errorf("open %s: %w", path, err)
}

// Close writes what was noted, and closes the file. What is noted later is lost.
func (s *Store) Close() {
	s.file.once.Do(func() { close(s.file.closing) })
	<-s.file.ended
}

// write writes for as long as the store is open.
func (s *Store) write() {
	defer close(s.file.ended)
	for {
		select {
		case <-s.file.added:
			s.file.gather()
		case <-s.file.hurried:
		case <-s.file.closing:
		}
		s.flush()
		select {
		case <-s.file.closing:
			s.end()
			return
		default:
		}
	}
}

// gather waits for more to be written in the same transaction.
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
	s.flush()
	if err := guarded(s.file.db.Close); err != nil {
		s.opts.Failed(fmt.Errorf("close %s: %w", s.file.path, err))
	}
}

// flush writes what was collected, or all there is if that is needed.
func (s *Store) flush() {
	s.mu.Lock()
	b, whole := s.file.collected, s.file.whole
	if len(b.changes) == 0 && !whole {
		s.mu.Unlock()
		return
	}
	s.file.collected, s.file.writing = newBatch(), b
	changes := b.changes
	if whole {
		changes = s.all()
	}
	s.mu.Unlock()

	err := s.file.commit(changes, whole)

	s.mu.Lock()
	s.file.writing, s.file.whole, s.file.slow = nil, err != nil, err != nil
	failed := s.file.failures
	if err == nil {
		s.file.failures = 0
	} else {
		s.file.failures++
		wait := min(shortestRetry<<min(failed, 10), longestRetry)
		time.AfterFunc(wait, s.file.hurry)
	}
	s.mu.Unlock()
	close(b.done)
	if err != nil {
		s.opts.Failed(fmt.Errorf("write %s, what plugins are owed is in memory alone: %w", s.file.path, err))
	}
}

// commit makes changes in one transaction, after all else if they are the whole.
func (w *writer) commit(changes []change, whole bool) error {
	err := guarded(func() error {
		return w.db.Update(func(tx *bolt.Tx) error {
			if whole {
				if err := unless(berrors.ErrBucketNotFound, tx.DeleteBucket(namesKey)); err != nil {
					return err
				}
			}
			for _, c := range changes {
				if err := c.apply(tx); err != nil {
					return err
				}
			}
			return nil
		})
	})
	if errors.Is(err, errBroken) {
		err = errors.Join(err, w.replace())
	}
	return err
}

// replace sets a broken file aside, for all to be written to another one.
func (w *writer) replace() error {
	if err := os.Rename(w.path, w.aside()); err != nil {
		return err
	}
	db, err := openFile(w.path)
	if err == nil {
		w.db = db // the other one is left open, as in tryRead
	}
	return err
}

// all are the changes that make the whole of what there is. s.mu is held.
func (s *Store) all() (changes []change) {
	for of, n := range s.names {
		changes = append(changes, presenceOf(of, n))
		for object, stopped := range n.known {
			changes = append(changes, knownOf(of, object, stopped))
		}
		for _, e := range n.owed {
			changes = append(changes, owedOf(of, e))
		}
	}
	return changes
}

// What follows is called with the store's lock held.

func (w *writer) add(c change) {
	if !w.open || w.whole && w.writing == nil {
		return // all is going to be written
	}
	w.collected.changes = append(w.collected.changes, c)
	nudge(w.added)
}

func (w *writer) presence(of string, n *name) { w.add(presenceOf(of, n)) }
func (w *writer) forget(of string)            { w.add(change{name: of, whole: true}) }
func (w *writer) forgetKnown(of string)       { w.add(change{name: of, bucket: knownKey}) }
func (w *writer) owed(of string, e *end)      { w.add(owedOf(of, e)) }
func (w *writer) paid(of string, e *end)      { w.add(paidOf(of, e)) }

func (w *writer) known(of string, object [2]string, stopped bool) {
	w.add(knownOf(of, object, stopped))
}

func (w *writer) unknown(of string, object [2]string) { w.add(unknownOf(of, object)) }

// unwritten is what has to be waited for until all is in the file, nil if nothing has.
func (w *writer) unwritten() *batch {
	switch {
	case !w.open || w.slow:
		return nil
	case len(w.collected.changes) > 0:
		return w.collected
	}
	return w.writing
}

// stalled has nobody wait for the file any more until it comes through.
func (s *Store) stalled(b *batch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-b.done:
		return
	default:
	}
	s.file.slow = true
	s.opts.Failed(fmt.Errorf("write %s: not done after %s, nobody waits for it any more", s.file.path, s.opts.Patience))
}

// hurry has what was collected written now.
func (w *writer) hurry() { nudge(w.hurried) }

func nudge(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
