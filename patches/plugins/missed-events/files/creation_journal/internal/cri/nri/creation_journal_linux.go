// SPDX-License-Identifier: Apache-2.0

package nri

// BeginCreation says that a pod or container is being created of which there is no record
// yet: container is empty for a pod. The function that it returns ends that, once there is
// a record or the creation has been undone.
func (a *API) BeginCreation(pod, container string) (end func()) {
	if a.IsDisabled() {
		return func() {}
	}
	return a.nri.BeginCreation(pod, container)
}
