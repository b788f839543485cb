// SPDX-License-Identifier: Apache-2.0

package podresources

import (
	"google.golang.org/protobuf/encoding/protojson"
)

// MarshalJSON writes resources for a runtime that stores its state as JSON.
func (r *KubernetesResources) MarshalJSON() ([]byte, error) { return protojson.Marshal(r) }

// UnmarshalJSON reads them back. It drops resources that cannot be read, written by another version
// of the runtime, so that the rest of the state can be read.
func (r *KubernetesResources) UnmarshalJSON(text []byte) error {
	if (protojson.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(text, r) != nil || r.validate() != nil {
		r.Reset()
	}
	return nil
}
