// SPDX-License-Identifier: Apache-2.0

package metadata

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/containerd/log"
	"github.com/containerd/typeurl/v2"
	"github.com/docker/go-metrics"
	bolt "go.etcd.io/bbolt"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/containerd/containerd/v2/core/metadata/boltutil"
	"github.com/containerd/containerd/v2/pkg/protobuf/proto"
	"github.com/containerd/containerd/v2/pkg/protobuf/types"
)

// UnreadableExtension is the extension of a container or sandbox whose record had a value that
// could not be read and was set aside when containerd started. Its string names the value.
const UnreadableExtension = "containerd.io/unreadable"

// bucketKeyUnreadable is the bucket of a record for the values that were set aside, unchanged,
// by their names.
var bucketKeyUnreadable = []byte("unreadable")

// longestReason is the longest text in the extension, in bytes.
const longestReason = 1024

// Unreadable names the values that could not be read of the container or sandbox with these
// extensions. It is empty if all could be read.
func Unreadable(extensions map[string]typeurl.Any) string {
	mark, ok := extensions[UnreadableExtension]
	if !ok {
		return ""
	}
	var reason wrapperspb.StringValue
	if err := typeurl.UnmarshalTo(mark, &reason); err != nil {
		return err.Error()
	}
	return reason.GetValue()
}

var unreadable metrics.LabeledCounter

func init() {
	ns := metrics.NewNamespace("containerd", "metadata", nil)
	unreadable = ns.NewLabeledCounter("unreadable_records", "Records with a value that could not be read and was set aside when containerd started, by kind: sandbox or container; the log names them", "kind")
	metrics.Register(ns)
}

// setAside looks for unreadable values in the records of containers and sandboxes. One such
// value fails each list of them. A list without the record would be no remedy: a caller that
// takes it for complete removes resources that are still used. So the value is moved within
// the record, which is in each list from then on, with [UnreadableExtension], and can be read
// and removed.
func (m *DB) setAside(ctx context.Context) {
	var found []string
	err := m.db.View(func(tx *bolt.Tx) error {
		return eachRecord(tx, func(r record) error {
			if len(r.unreadable()) > 0 {
				found = append(found, r.String())
			}
			return nil
		})
	})
	if err == nil && len(found) > 0 {
		err = m.db.Update(func(tx *bolt.Tx) error {
			return eachRecord(tx, func(r record) error {
				if err := r.setAside(ctx); err != nil { // the record still fails lists
					log.G(ctx).WithError(err).Errorf("failed to set aside the unreadable values of %s", r)
				}
				return nil
			})
		})
	}
	if err != nil { // lists still fail
		log.G(ctx).WithError(err).Errorf("failed to set aside the unreadable values of %s", strings.Join(found, ", "))
	}
}

// A record is the record of a container or sandbox.
type record struct {
	kind, namespace, id string
	in                  *bolt.Bucket // has all records of the kind
}

func (r record) String() string {
	return fmt.Sprintf("%s %q in namespace %q", r.kind, r.id, r.namespace)
}

func eachRecord(tx *bolt.Tx, do func(record) error) error {
	all := tx.Bucket(bucketKeyVersion)
	if all == nil {
		return nil
	}
	return all.ForEachBucket(func(namespace []byte) error {
		for kind, key := range map[string][]byte{"container": bucketKeyObjectContainers, "sandbox": bucketKeyObjectSandboxes} {
			in := all.Bucket(namespace).Bucket(key)
			if in == nil {
				continue
			}
			var ids []string // listed first, because the bucket must not change meanwhile
			if err := in.ForEach(func(id, _ []byte) error { ids = append(ids, string(id)); return nil }); err != nil {
				return err
			}
			for _, id := range ids {
				if err := do(record{kind, string(namespace), id, in}); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// A value is part of a record.
type value struct {
	name string
	in   *bolt.Bucket
	key  string
	none []byte // the replacement, nil for none
	err  error
	time bool // the record works as well without it
}

// unreadable returns the values of a record that cannot be read.
func (r record) unreadable() (values []value) {
	bucket := r.in.Bucket([]byte(r.id))
	if bucket == nil {
		if r.kind == "sandbox" { // lists of containers skip it
			return []value{{name: "record", in: r.in, key: r.id, err: errors.New("it is no bucket")}}
		}
		return nil
	}
	look := func(prefix string, in *bolt.Bucket, key string, none []byte, read func([]byte) error) {
		if text := in.Get([]byte(key)); text != nil {
			if err := read(text); err != nil {
				values = append(values, value{name: prefix + key, in: in, key: key, none: none, err: err})
			}
		}
	}
	for key, other := range map[string]string{"createdat": "updatedat", "updatedat": "createdat"} {
		look("", bucket, key, timeOf(bucket, other), new(time.Time).UnmarshalBinary)
	}
	for i := range values {
		values[i].time = true
	}
	look("", bucket, string(bucketKeySpec), r.noSpec(), readsAsAny)
	if runtime := bucket.Bucket(bucketKeyRuntime); runtime != nil {
		specs := len(values)
		look("runtime/", runtime, string(bucketKeyOptions), nil, readsAsAny)
		if len(values) > specs && r.kind == "container" { // without them another program would be started
			look("", bucket, string(bucketKeySpec), r.noSpec(), func(text []byte) error {
				if readsAsAny(text) != nil {
					return nil // it is found already
				}
				return errors.New("it must not be started without the options of its runtime")
			})
		}
	} else if r.kind == "sandbox" {
		values = append(values, value{name: "runtime", in: bucket, key: string(bucketKeyRuntime), err: errors.New("there is none")})
	}
	if extensions := bucket.Bucket(bucketKeyExtensions); extensions != nil {
		_ = extensions.ForEach(func(key, _ []byte) error {
			look("extensions/", extensions, string(key), nil, readsAsAny)
			return nil
		})
	}
	return values
}

// timeOf returns the time of a record under this key, to replace the other one, or the zero time.
func timeOf(bucket *bolt.Bucket, key string) []byte {
	var t time.Time
	_ = t.UnmarshalBinary(bucket.Get([]byte(key))) // if it fails, the time stays zero
	text, _ := t.MarshalBinary()                   // a time that was unmarshaled can be marshaled
	return text
}

// noSpec returns the replacement for a specification. A container must have one with a process,
// because a released containerd reads it without a check. It starts nothing, nor can anything be
// started in the container: runtimes reject the limit, and a client that sets its own limits
// has no privileges.
func (r record) noSpec() []byte {
	if r.kind != "container" {
		return nil
	}
	text, _ := proto.Marshal(&types.Any{ // it can always be marshaled
		TypeUrl: "types.containerd.io/opencontainers/runtime-spec/1/Spec",
		Value:   []byte(`{"ociVersion": "1.0.0", "process": {"noNewPrivileges": true, "capabilities": {}, "rlimits": [{"type": "unreadable"}]}, "root": {}, "linux": {}}`),
	})
	return text
}

func readsAsAny(text []byte) error { return proto.Unmarshal(text, &types.Any{}) }

// setAside sets aside the unreadable values of a record.
func (r record) setAside(ctx context.Context) error {
	values := r.unreadable()
	if len(values) == 0 {
		return nil
	}
	was := make([][]byte, len(values)) // copies, because bolt's own are invalid after a change
	for i, v := range values {
		was[i] = append([]byte{}, v.in.Get([]byte(v.key))...)
	}
	bucket := r.in.Bucket([]byte(r.id))
	if bucket == nil { // something else is in its place, and is replaced
		if err := values[0].takeOut(); err != nil {
			return err
		}
		var err error
		if bucket, err = r.in.CreateBucket([]byte(r.id)); err != nil {
			return err
		}
		values[0].in = bucket // it has no value of that name
	}
	// The values are copied, and the record is marked, before the values are removed.
	aside, err := bucket.CreateBucketIfNotExists(bucketKeyUnreadable)
	if err != nil {
		return err
	}
	var reasons []string
	for i, v := range values {
		if err := aside.Put([]byte(v.name), was[i]); err != nil {
			return err
		}
		if v.time {
			continue
		}
		reasons = append(reasons, fmt.Sprintf("%s: %v", v.name, v.err))
	}
	reason := strings.Join(reasons, "; ")
	mark, err := typeurl.MarshalAny(wrapperspb.String(strings.ToValidUTF8(reason[:min(len(reason), longestReason)], "?")))
	if err != nil {
		return err
	}
	if len(reasons) > 0 {
		if err := boltutil.WriteExtensions(bucket, map[string]typeurl.Any{UnreadableExtension: mark}); err != nil {
			return err
		}
	}
	for _, v := range values {
		if err := v.takeOut(); err != nil {
			return err
		}
		log.G(ctx).WithError(v.err).Errorf("%s of %s cannot be read, and is set aside", v.name, r)
	}
	unreadable.WithValues(r.kind).Inc()
	if r.kind == "sandbox" { // lists of containers need none
		_, err = bucket.CreateBucketIfNotExists(bucketKeyRuntime)
	}
	return err
}

func (v value) takeOut() error {
	if v.none != nil {
		return v.in.Put([]byte(v.key), v.none)
	}
	if v.in.Get([]byte(v.key)) == nil {
		return nil
	}
	return v.in.Delete([]byte(v.key))
}
