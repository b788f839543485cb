// SPDX-License-Identifier: Apache-2.0

package container

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// While an update runs, readers get the earlier status. Updates wait for one another.
func TestStatusIsReadWhileItIsUpdated(t *testing.T) {
	for how, update := range map[string]func(StatusStorage, UpdateFunc) error{
		"kept":       StatusStorage.UpdateSync,
		"not stored": StatusStorage.Update,
	} {
		t.Run(how, func(t *testing.T) {
			s, err := StoreStatus(t.TempDir(), "id", Status{CreatedAt: 1})
			require.NoError(t, err)
			begun, hangs, first, second := make(chan struct{}), make(chan struct{}), make(chan error, 1), make(chan error, 1)
			go func() {
				first <- update(s, func(status Status) (Status, error) {
					close(begun)
					<-hangs
					status.StartedAt = 2
					return status, nil
				})
			}()
			<-begun
			go func() {
				second <- update(s, func(status Status) (Status, error) {
					status.FinishedAt = status.StartedAt + 1
					return status, nil
				})
			}()
			assert.Equal(t, int64(0), s.Get().StartedAt)
			close(hangs)
			require.NoError(t, <-first)
			require.NoError(t, <-second)
			got := s.Get()
			assert.Equal(t, []int64{2, 3}, []int64{got.StartedAt, got.FinishedAt})
		})
	}
}
