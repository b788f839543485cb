// SPDX-License-Identifier: Apache-2.0

package server

import containerstore "github.com/containerd/containerd/v2/internal/cri/store/container"

// noteProcess writes the process of a container that is being started to its status, for readers
// that need it before the container runs.
func noteProcess(cntr containerstore.Container, pid uint32) error {
	return cntr.Status.Update(func(status containerstore.Status) (containerstore.Status, error) {
		status.Pid = pid
		return status, nil
	})
}
