// SPDX-License-Identifier: Apache-2.0

package podresources

import (
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// MarshalJSON writes resources into the state that a runtime keeps as JSON.
func (r *KubernetesResources) MarshalJSON() ([]byte, error) { return protojson.Marshal(r) }

// UnmarshalJSON reads them back.
func (r *KubernetesResources) UnmarshalJSON(text []byte) error { return protojson.Unmarshal(text, r) }

// WithContainer returns the resources of a pod in which one container asks for
// something else. What it was made from stays as it is. Without such a
// container there is nothing to change, and it returns its receiver.
func (c *PodResourceConfig) WithContainer(name string, asked *KubernetesResources) *PodResourceConfig {
	if c.Container(name) == nil {
		return c
	}
	changed := proto.CloneOf(c)
	changed.Container(name).KubernetesResources = asked
	return changed
}
