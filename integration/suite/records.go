// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"go.etcd.io/bbolt"

	"github.com/hookline-nri/hookline/testkit/node"
)

// Overwrite puts a value where containerd's metadata has another of CRI's, or none.
func Overwrite(n *node.Node, value []byte, path ...string) error {
	return OverwriteIn(n, "k8s.io", value, path...)
}

// OverwriteIn is Overwrite in a namespace, which may be another client's.
func OverwriteIn(n *node.Node, namespace string, value []byte, path ...string) (err error) {
	db, err := bbolt.Open(filepath.Join(n.Folder(), "root", "io.containerd.metadata.v1.bolt", "meta.db"), 0o600, &bbolt.Options{Timeout: 10 * time.Second})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return db.Update(func(tx *bbolt.Tx) error {
		bucket := tx.Bucket([]byte("v1")).Bucket([]byte(namespace))
		for _, name := range path[:len(path)-1] {
			if bucket = bucket.Bucket([]byte(name)); bucket == nil {
				return fmt.Errorf("no bucket %q of %q", name, path)
			}
		}
		return bucket.Put([]byte(path[len(path)-1]), value)
	})
}
