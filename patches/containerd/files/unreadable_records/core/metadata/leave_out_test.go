// SPDX-License-Identifier: Apache-2.0

package metadata

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"

	"github.com/containerd/containerd/v2/core/containers"
	"github.com/containerd/containerd/v2/core/sandbox"
	"github.com/containerd/containerd/v2/pkg/protobuf/types"
)

// notAny is what no value of that kind is encoded as.
var notAny = []byte{0xff}

// The other sandboxes are listed, and only who asks for the one that cannot be
// read gets an error.
func TestUnreadableSandboxIsLeftOut(t *testing.T) {
	ctx, db := testDB(t)
	store := NewSandboxStore(db)
	for _, id := range []string{"bad", "good"} {
		_, err := store.Create(ctx, sandbox.Sandbox{ID: id})
		require.NoError(t, err)
	}
	require.NoError(t, db.Update(func(tx *bbolt.Tx) error {
		sandboxes := getSandboxBucket(tx, "testing")
		if err := sandboxes.Put([]byte("alien"), []byte("no bucket")); err != nil {
			return err
		}
		return sandboxes.Bucket([]byte("bad")).Put(bucketKeySpec, notAny)
	}))

	all, err := store.List(ctx)
	require.NoError(t, err)
	require.Len(t, all, 1)
	require.Equal(t, "good", all[0].ID)
	_, err = store.Get(ctx, "bad")
	require.Error(t, err)
}

func TestUnreadableContainerIsLeftOut(t *testing.T) {
	ctx, db := testDB(t)
	store := NewContainerStore(db)
	for _, id := range []string{"bad", "good"} {
		_, err := store.Create(ctx, containers.Container{ID: id, Spec: &types.Any{}, Runtime: containers.RuntimeInfo{Name: "runc"}})
		require.NoError(t, err)
	}
	require.NoError(t, db.Update(func(tx *bbolt.Tx) error {
		return getContainerBucket(tx, "testing", "bad").Put(bucketKeySpec, notAny)
	}))

	all, err := store.List(ctx)
	require.NoError(t, err)
	require.Len(t, all, 1)
	require.Equal(t, "good", all[0].ID)
	_, err = store.Get(ctx, "bad")
	require.Error(t, err)
}
