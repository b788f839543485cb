// SPDX-License-Identifier: Apache-2.0

package missed

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

// The layout of the file, see the package documentation.
const (
	endsKey     = "ends"
	namesKey    = "names"
	presenceKey = "presence"
	knownKey    = "known"
	missedKey   = "missed"
)

// A change puts a value at a key of the file, or deletes it.
type change struct {
	bucket []string // from the root
	key    string
	value  []byte // nil: the key is deleted
	end    *end   // the value, if it is an end
	tree   bool   // deletes a bucket
}

// size is roughly the memory that a change takes.
func (c *change) size() int {
	size := entryCost + len(c.key) + len(c.value)
	if c.end != nil {
		size += len(c.end.request)
	}
	return size
}

// record is the form in which a presence is written.
type record struct {
	Wants        []string  `json:"wants"`
	Disconnected time.Time `json:"disconnected,omitzero"`
}

// header is written before the request of an end.
type header struct {
	Kind      string `json:"kind"`
	Pod       string `json:"pod"`
	Container string `json:"container,omitempty"`
}

func presenceOf(of string, n *name) change {
	value, _ := json.Marshal(record{n.wants, n.left}) // strings and times never fail
	return change{bucket: []string{namesKey, of}, key: presenceKey, value: value}
}

func knownOf(of string, object [2]string, stopped bool) change {
	c := unknownOf(of, object)
	c.value = []byte{0}
	if stopped {
		c.value[0] = 1
	}
	return c
}

func unknownOf(of string, object [2]string) change {
	return change{bucket: []string{namesKey, of, knownKey}, key: object[0] + "\x00" + object[1]}
}

func nothingKnownOf(of string) change {
	return change{bucket: []string{namesKey, of}, key: knownKey, tree: true}
}

func forgottenOf(of string) change { return change{bucket: []string{namesKey}, key: of, tree: true} }

func endOf(e *end) change {
	c := releasedOf(e)
	c.end = e
	return c
}

// bytes returns an end as it is written.
func (e *end) bytes() []byte {
	head, _ := json.Marshal(header{e.kind, e.object[0], e.object[1]})
	return append(append(head, '\n'), e.request...)
}

func releasedOf(e *end) change {
	return change{bucket: []string{endsKey}, key: keyOf(e.number)}
}

func missedOf(of string, d due) change {
	c := settledOf(of, d)
	c.value = []byte(keyOf(d.number))
	return c
}

func settledOf(of string, d due) change {
	return change{bucket: []string{namesKey, of, missedKey}, key: keyOf(d.place)}
}

// keyOf returns a number as it is written: keys sort like the numbers.
func keyOf(number uint64) string { return string(binary.BigEndian.AppendUint64(nil, number)) }

func numberOf(key []byte) (uint64, error) {
	if len(key) != 8 {
		return 0, fmt.Errorf("%x is no number", key)
	}
	return binary.BigEndian.Uint64(key), nil
}

// apply makes a change in a transaction.
func (c change) apply(tx *bolt.Tx) error {
	b := tx.Cursor().Bucket() // the root
	for _, name := range c.bucket {
		var err error
		if b, err = b.CreateBucketIfNotExists([]byte(name)); err != nil {
			return err
		}
	}
	if c.tree {
		return unless(berrors.ErrBucketNotFound, b.DeleteBucket([]byte(c.key)))
	}
	value := c.value
	if c.end != nil {
		value = c.end.bytes()
	}
	if value == nil {
		return b.Delete([]byte(c.key))
	}
	b.FillPercent = 0.9 // most keys are numbers, and new ones come last
	return b.Put([]byte(c.key), value)
}

func unless(expected, err error) error {
	if errors.Is(err, expected) {
		return nil
	}
	return err
}

// load reads the whole file into an empty store.
func (s *Store) load(db *bolt.DB) error {
	return db.View(func(tx *bolt.Tx) error {
		ends, names := tx.Bucket([]byte(endsKey)), tx.Bucket([]byte(namesKey))
		if names == nil {
			return nil
		}
		numbers := make(map[uint64]*end)
		return names.ForEachBucket(func(of []byte) error {
			if err := s.loadName(string(of), names.Bucket(of), ends, numbers); err != nil {
				return fmt.Errorf("name %q: %w", of, err)
			}
			return nil
		})
	})
}

// loadName reads a name. numbers has the ends that were read before.
func (s *Store) loadName(of string, b, ends *bolt.Bucket, numbers map[uint64]*end) error {
	var p record
	if err := json.Unmarshal(b.Get([]byte(presenceKey)), &p); err != nil {
		return fmt.Errorf("presence: %w", err)
	}
	n := s.add(of)
	n.wants, n.left, n.counted = p.Wants, p.Disconnected, s.opts.Now()
	err := each(b.Bucket([]byte(knownKey)), func(k, v []byte) error {
		pod, container, ok := strings.Cut(string(k), "\x00")
		if !ok || len(v) != 1 {
			return fmt.Errorf("%q is known as %q", k, v)
		}
		s.know(n, [2]string{pod, container}, v[0] == 1)
		return nil
	})
	if err != nil {
		return err
	}
	return each(b.Bucket([]byte(missedKey)), func(k, v []byte) error {
		place, err := numberOf(k)
		if err != nil {
			return err
		}
		e, err := s.loadEnd(v, ends, numbers)
		if err != nil {
			return fmt.Errorf("end %x: %w", v, err)
		}
		s.enter(n, due{e, place})
		s.last = max(s.last, place, e.number)
		return nil
	})
}

// each visits the entries of a bucket, if it exists.
func each(b *bolt.Bucket, visit func(k, v []byte) error) error {
	if b == nil {
		return nil
	}
	return b.ForEach(visit)
}

// loadEnd reads the end that has a number, unless it was read before.
func (s *Store) loadEnd(at []byte, ends *bolt.Bucket, numbers map[uint64]*end) (*end, error) {
	number, err := numberOf(at)
	if err != nil {
		return nil, err
	}
	if e := numbers[number]; e != nil {
		return e, nil
	}
	if ends == nil {
		return nil, errors.New("the file has no ends")
	}
	head, request, ok := strings.Cut(string(ends.Get(at)), "\n")
	if !ok {
		return nil, errors.New("it has no header")
	}
	var h header
	if err := json.Unmarshal([]byte(head), &h); err != nil {
		return nil, err
	}
	e := s.newEnd(content{key{h.Kind, [2]string{h.Pod, h.Container}}, request}, number)
	numbers[number] = e
	return e, nil
}

// errBroken is returned for a file whose content makes no sense.
var errBroken = errors.New("the file is broken")

// guarded runs a function that reads or writes pages of the file. bbolt panics on pages that
// make no sense, and a file that was truncated while mapped causes a fault.
func guarded(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", errBroken, p)
		}
	}()
	return f()
}
