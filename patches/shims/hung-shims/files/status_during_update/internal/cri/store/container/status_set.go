// SPDX-License-Identifier: Apache-2.0

package container

// set replaces the status. The caller holds updating.
func (s *statusStorage) set(status Status) {
	s.Lock()
	defer s.Unlock()
	s.status = status
}
