// SPDX-License-Identifier: Apache-2.0

package sandbox

import "fmt"

// HoldLabel keeps the level of an SELinux label for a sandbox that is not in the store yet, until
// release is called.
func (s *Store) HoldLabel(label string) (release func(), err error) {
	if err := s.labels.Reserve(label); err != nil {
		return nil, fmt.Errorf("reserve label %q: %w", label, err)
	}
	return func() { s.labels.Release(label) }, nil
}
