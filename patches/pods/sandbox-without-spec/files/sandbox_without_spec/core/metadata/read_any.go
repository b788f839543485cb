// SPDX-License-Identifier: Apache-2.0

package metadata

import (
	"github.com/containerd/typeurl/v2"
	"go.etcd.io/bbolt"

	"github.com/containerd/containerd/v2/core/metadata/boltutil"
)

// readAny returns what is kept under a name, and nil if there is nothing, or nothing
// that has a type: a nil pointer is not nil as a typeurl.Any.
func readAny(bkt *bbolt.Bucket, name []byte) (typeurl.Any, error) {
	kept, err := boltutil.ReadAny(bkt, name)
	if err != nil || kept.GetTypeUrl() == "" {
		return nil, err
	}
	return kept, nil
}
