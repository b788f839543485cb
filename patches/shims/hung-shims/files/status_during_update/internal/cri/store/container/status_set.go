// SPDX-License-Identifier: Apache-2.0

package container

// set puts a status in place. Whoever calls it holds updating.
func (s *statusStorage) set(status Status) {
	s.Lock()
	defer s.Unlock()
	s.status = status
}
