// SPDX-License-Identifier: Apache-2.0

package nri

// BeginCreation marks a pod or container without a record as being created. container is
// empty for a pod. The caller calls the returned function once there is a record or the
// creation is rolled back.
func (a *API) BeginCreation(pod, container string) (end func()) {
	if a.IsDisabled() {
		return func() {}
	}
	return a.nri.BeginCreation(pod, container)
}
