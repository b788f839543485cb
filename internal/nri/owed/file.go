// SPDX-License-Identifier: Apache-2.0

package owed

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
var (
	namesKey    = []byte("names")
	presenceKey = []byte("presence")
	knownKey    = []byte("known")
	owedKey     = []byte("owed")
)

// A change is what one call changes in the file.
type change struct {
	name       string
	bucket     []byte // knownKey or owedKey, nil for the presence
	key, value []byte // no value: the key is deleted; no key: the bucket is
	whole      bool   // all of the name is deleted
}

// record is the form in which a presence is written.
type record struct {
	Wants []string  `json:"wants"`
	Away  time.Time `json:"away,omitzero"`
}

// header is what is written before the request of an end.
type header struct {
	Kind      string    `json:"kind"`
	Pod       string    `json:"pod"`
	Container string    `json:"container,omitempty"`
	Since     time.Time `json:"since"`
}

func presenceOf(of string, n *name) change {
	value, _ := json.Marshal(record{n.wants, n.away}) // strings and times can be
	return change{name: of, key: presenceKey, value: value}
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
	return change{name: of, bucket: knownKey, key: []byte(object[0] + "\x00" + object[1])}
}

func owedOf(of string, e *end) change {
	c := paidOf(of, e)
	head, _ := json.Marshal(header{e.kind, e.object[0], e.object[1], e.since})
	c.value = append(append(head, '\n'), e.request...)
	return c
}

func paidOf(of string, e *end) change {
	return change{name: of, bucket: owedKey, key: binary.BigEndian.AppendUint64(nil, e.number)}
}

// apply makes a change in a transaction.
func (c change) apply(tx *bolt.Tx) error {
	root, err := tx.CreateBucketIfNotExists(namesKey)
	if err != nil {
		return err
	}
	if c.whole {
		return unless(berrors.ErrBucketNotFound, root.DeleteBucket([]byte(c.name)))
	}
	b, err := root.CreateBucketIfNotExists([]byte(c.name))
	if err != nil {
		return err
	}
	if c.bucket != nil && c.key == nil {
		return unless(berrors.ErrBucketNotFound, b.DeleteBucket(c.bucket))
	}
	if c.bucket != nil {
		if b, err = b.CreateBucketIfNotExists(c.bucket); err != nil {
			return err
		}
	}
	if c.value == nil {
		return b.Delete(c.key)
	}
	return b.Put(c.key, c.value)
}

func unless(expected, err error) error {
	if errors.Is(err, expected) {
		return nil
	}
	return err
}

// load reads all of the file.
func load(db *bolt.DB) (all map[string]*name, last uint64, err error) {
	all = make(map[string]*name)
	err = db.View(func(tx *bolt.Tx) error {
		root := tx.Bucket(namesKey)
		if root == nil {
			return nil
		}
		return root.ForEachBucket(func(of []byte) error {
			n, err := loadName(root.Bucket(of))
			if err != nil {
				return fmt.Errorf("name %q: %w", of, err)
			}
			if len(n.owed) > 0 {
				last = max(last, n.owed[len(n.owed)-1].number)
			}
			all[string(of)] = n
			return nil
		})
	})
	return all, last, err
}

func loadName(b *bolt.Bucket) (*name, error) {
	n := newName()
	var p record
	if err := json.Unmarshal(b.Get(presenceKey), &p); err != nil {
		return nil, fmt.Errorf("presence: %w", err)
	}
	n.wants, n.away = p.Wants, p.Away
	if known := b.Bucket(knownKey); known != nil {
		err := known.ForEach(func(k, v []byte) error {
			pod, container, ok := strings.Cut(string(k), "\x00")
			if !ok || len(v) != 1 {
				return fmt.Errorf("%q is known as %q", k, v)
			}
			n.known[[2]string{pod, container}] = v[0] == 1
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	owes := b.Bucket(owedKey)
	if owes == nil {
		return n, nil
	}
	return n, owes.ForEach(func(k, v []byte) error {
		e, err := loadEnd(k, v)
		if err != nil {
			return fmt.Errorf("end %x: %w", k, err)
		}
		n.owed = append(n.owed, e)
		n.index[e.key] = e
		n.bytes += e.size()
		return nil
	})
}

func loadEnd(k, v []byte) (*end, error) {
	if len(k) != 8 {
		return nil, errors.New("its number is none")
	}
	head, request, ok := strings.Cut(string(v), "\n")
	if !ok {
		return nil, errors.New("it has no header")
	}
	var h header
	if err := json.Unmarshal([]byte(head), &h); err != nil {
		return nil, err
	}
	return &end{
		key:     key{h.Kind, [2]string{h.Pod, h.Container}},
		number:  binary.BigEndian.Uint64(k),
		since:   h.Since,
		request: []byte(request),
	}, nil
}

// errBroken is that of a file that cannot be read.
var errBroken = errors.New("the file is broken")

// guarded runs what reads or writes pages of the file. bbolt panics where they make no
// sense, and a file that was cut off under its mapping is a fault.
func guarded(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", errBroken, p)
		}
	}()
	return f()
}
