// SPDX-License-Identifier: Apache-2.0

package metadata

import (
	"strings"
	"testing"
	"time"

	"github.com/containerd/typeurl/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"

	"github.com/containerd/containerd/v2/core/containers"
	"github.com/containerd/containerd/v2/core/sandbox"
	"github.com/containerd/containerd/v2/pkg/protobuf/types"
)

// notAny is no encoding of an Any, nor of a time.
var notAny = []byte{0xff}

// A container with any unreadable value is in the list, and can be read, changed and removed.
func TestContainerThatCannotBeReadIsListed(t *testing.T) {
	for name, path := range map[string][]string{
		"spec":                 {"spec"},
		"createdat":            {"createdat"},
		"updatedat":            {"updatedat"},
		"runtime/options":      {"runtime", "options"},
		"extensions/something": {"extensions", "something"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, db := testDB(t)
			store := NewContainerStore(db)
			for _, id := range []string{"bad", "good"} {
				_, err := store.Create(ctx, containers.Container{
					ID: id, Spec: &types.Any{TypeUrl: "spec"}, Image: "image", SandboxID: "pod",
					Labels:     map[string]string{"own": "label"},
					Runtime:    containers.RuntimeInfo{Name: "runc", Options: &types.Any{TypeUrl: "options"}},
					Extensions: map[string]typeurl.Any{"something": &types.Any{TypeUrl: "else"}, "more": &types.Any{TypeUrl: "more"}},
				})
				require.NoError(t, err)
			}
			require.NoError(t, db.Update(func(tx *bbolt.Tx) error {
				bucket := getContainerBucket(tx, "testing", "bad")
				for _, part := range path[:len(path)-1] {
					bucket = bucket.Bucket([]byte(part))
				}
				return bucket.Put([]byte(path[len(path)-1]), notAny)
			}))
			_, err := store.List(ctx)
			require.Error(t, err, "it fails each list")

			db.setAside(ctx)
			all, err := store.List(ctx, "labels.own==label")
			require.NoError(t, err)
			require.Len(t, all, 2)
			bad, good := all[0], all[1]
			requireMarked(t, bad.Extensions, name)
			assert.WithinDuration(t, good.CreatedAt, bad.CreatedAt, time.Minute)
			assert.Equal(t, []string{"runc", "image", "pod"}, []string{bad.Runtime.Name, bad.Image, bad.SandboxID})
			assert.Contains(t, bad.Extensions, "more")
			assert.Empty(t, Unreadable(good.Extensions))
			assert.Equal(t, "spec", good.Spec.GetTypeUrl())
			if name == "spec" || name == "runtime/options" {
				assert.NotEqual(t, "spec", bad.Spec.GetTypeUrl(), "nothing must be started by it")
			}
			require.NoError(t, db.View(func(tx *bbolt.Tx) error {
				assert.Equal(t, notAny, getContainerBucket(tx, "testing", "bad").Bucket(bucketKeyUnreadable).Get([]byte(name)), "its old value is kept")
				return nil
			}))

			bad.Labels["new"] = "label"
			_, err = store.Update(ctx, bad, "labels")
			require.NoError(t, err)
			db.setAside(ctx)
			again, err := store.Get(ctx, "bad")
			require.NoError(t, err)
			assert.Equal(t, bad.Labels, again.Labels)
			requireMarked(t, again.Extensions, name)
			require.NoError(t, store.Delete(ctx, "bad"))
		})
	}
}

// requireMarked checks that the mark of a record names the unreadable value. It names no time.
func requireMarked(t *testing.T, extensions map[string]typeurl.Any, name string) {
	t.Helper()
	if name == "createdat" || name == "updatedat" {
		assert.Empty(t, Unreadable(extensions))
		return
	}
	assert.Contains(t, Unreadable(extensions), name+": ")
}

func TestSandboxThatCannotBeReadIsListed(t *testing.T) {
	was := map[string]string{"runtime": "", "runtime, a value": "no bucket", "record": "no bucket"}
	for _, name := range []string{"spec", "createdat", "extensions/metadata", "runtime/options"} {
		was[name] = string(notAny)
	}
	for name, breaks := range map[string]func(all, bad *bbolt.Bucket) error{
		"spec":      func(_, bad *bbolt.Bucket) error { return bad.Put([]byte("spec"), notAny) },
		"createdat": func(_, bad *bbolt.Bucket) error { return bad.Put([]byte("createdat"), notAny) },
		"extensions/metadata": func(_, bad *bbolt.Bucket) error {
			return bad.Bucket([]byte("extensions")).Put([]byte("metadata"), notAny)
		},
		"runtime/options": func(_, bad *bbolt.Bucket) error { return bad.Bucket([]byte("runtime")).Put([]byte("options"), notAny) },
		"runtime":         func(_, bad *bbolt.Bucket) error { return bad.DeleteBucket([]byte("runtime")) },
		"runtime, a value": func(_, bad *bbolt.Bucket) error {
			if err := bad.DeleteBucket([]byte("runtime")); err != nil {
				return err
			}
			return bad.Put([]byte("runtime"), []byte("no bucket"))
		},
		"record": func(all, _ *bbolt.Bucket) error {
			if err := all.DeleteBucket([]byte("bad")); err != nil {
				return err
			}
			return all.Put([]byte("bad"), []byte("no bucket"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, db := testDB(t)
			store := NewSandboxStore(db)
			for _, id := range []string{"bad", "good"} {
				_, err := store.Create(ctx, sandbox.Sandbox{ID: id, Runtime: sandbox.RuntimeOpts{Name: "runc"}, Extensions: map[string]typeurl.Any{"metadata": &types.Any{}}})
				require.NoError(t, err)
			}
			require.NoError(t, db.Update(func(tx *bbolt.Tx) error {
				all := getSandboxBucket(tx, "testing")
				return breaks(all, all.Bucket([]byte("bad")))
			}))
			_, err := store.List(ctx)
			require.Error(t, err, "it fails each list")

			db.setAside(ctx)
			all, err := store.List(ctx)
			require.NoError(t, err)
			require.Len(t, all, 2)
			of, _, _ := strings.Cut(name, ",")
			requireMarked(t, all[0].Extensions, of)
			require.NoError(t, db.View(func(tx *bbolt.Tx) error {
				kept := getSandboxBucket(tx, "testing").Bucket([]byte("bad")).Bucket(bucketKeyUnreadable).Get([]byte(of))
				assert.Equal(t, was[name], string(kept), "its old value is kept")
				return nil
			}))
			assert.Empty(t, Unreadable(all[1].Extensions))
			require.NoError(t, store.Delete(ctx, "bad"))
		})
	}
}

// A readable record is not written.
func TestReadableRecordIsNotWritten(t *testing.T) {
	ctx, db := testDB(t)
	_, err := NewContainerStore(db).Create(ctx, containers.Container{ID: "good", Spec: &types.Any{}, Runtime: containers.RuntimeInfo{Name: "runc"}})
	require.NoError(t, err)
	_, err = NewSandboxStore(db).Create(ctx, sandbox.Sandbox{ID: "good"})
	require.NoError(t, err)
	written := func() (id int) {
		require.NoError(t, db.View(func(tx *bbolt.Tx) error { id = tx.ID(); return nil }))
		return id
	}
	before := written()
	db.setAside(ctx)
	assert.Equal(t, before, written())
}
