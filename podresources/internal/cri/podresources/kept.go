// SPDX-License-Identifier: Apache-2.0

package podresources

import (
	"google.golang.org/protobuf/encoding/protojson"
)

// MarshalJSON writes resources for a runtime that stores its state as JSON.
func (r *KubernetesResources) MarshalJSON() ([]byte, error) { return protojson.Marshal(r) }

// UnmarshalJSON reads them back. Resources that another version of the runtime wrote
// and that cannot be read are dropped, so that the rest of the state is read.
func (r *KubernetesResources) UnmarshalJSON(text []byte) error {
	if (protojson.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(text, r) != nil || r.validate() != nil {
		r.Reset()
	}
	return nil
}
