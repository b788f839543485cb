// SPDX-License-Identifier: Apache-2.0

package metadata

import (
	"github.com/containerd/typeurl/v2"
	"go.etcd.io/bbolt"

	"github.com/containerd/containerd/v2/core/metadata/boltutil"
)

// readAny returns the value that is stored under a name, and nil if there is none or it has
// no type. It does not return a nil pointer, which is not nil as a typeurl.Any.
func readAny(bkt *bbolt.Bucket, name []byte) (typeurl.Any, error) {
	kept, err := boltutil.ReadAny(bkt, name)
	if err != nil || kept.GetTypeUrl() == "" {
		return nil, err
	}
	return kept, nil
}
