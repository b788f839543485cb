// SPDX-License-Identifier: Apache-2.0

package podresources

import (
	"google.golang.org/protobuf/encoding/protojson"
)

// MarshalJSON writes resources into the state that a runtime keeps as JSON.
func (r *KubernetesResources) MarshalJSON() ([]byte, error) { return protojson.Marshal(r) }

// UnmarshalJSON reads them back. What another version of the runtime wrote does
// not fail the rest of that state: it is passed over.
func (r *KubernetesResources) UnmarshalJSON(text []byte) error {
	if (protojson.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(text, r) != nil || r.validate() != nil {
		r.Reset()
	}
	return nil
}
