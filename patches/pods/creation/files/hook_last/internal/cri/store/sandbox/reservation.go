// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"fmt"

	"github.com/containerd/errdefs"
)

// Reserve does all steps of Add that can fail. Commit then puts the sandbox into the store, or
// Release undoes the reservation.
func (s *Store) Reserve(sb Sandbox) error {
	s.lock.Lock()
	defer s.lock.Unlock()
	if _, ok := s.sandboxes[sb.ID]; ok {
		return fmt.Errorf("sandbox %q: %w", sb.ID, errdefs.ErrAlreadyExists)
	}
	if err := s.labels.Reserve(sb.ProcessLabel); err != nil {
		return fmt.Errorf("reserve label %q: %w", sb.ProcessLabel, err)
	}
	if err := s.idIndex.Add(sb.ID); err != nil {
		s.labels.Release(sb.ProcessLabel)
		return fmt.Errorf("index sandbox %q: %w", sb.ID, err)
	}
	return nil
}

// Commit puts a sandbox that was reserved into the store.
func (s *Store) Commit(sb Sandbox) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.sandboxes[sb.ID] = sb
	if s.statsCollector != nil {
		s.statsCollector.AddContainer(sb.ID)
	}
}

// Release undoes Reserve.
func (s *Store) Release(sb Sandbox) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.labels.Release(sb.ProcessLabel)
	_ = s.idIndex.Delete(sb.ID)
}
