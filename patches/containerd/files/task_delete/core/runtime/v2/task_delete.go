// SPDX-License-Identifier: Apache-2.0

package v2

import (
	"context"
	"fmt"

	"github.com/containerd/containerd/v2/pkg/namespaces"
)

// lockTask waits until nobody else deletes the task, for as long as ctx lasts.
//
// A shim answers one of two deletions at once that there is no such task, before the other
// one has taken it off the shim's list. A shutdown has no effect then.
func (m *ShimManager) lockTask(ctx context.Context, id string) (unlock func(), err error) {
	ns, err := namespaces.NamespaceRequired(ctx)
	if err != nil {
		return nil, err
	}
	key := ns + "/" + id
	if err := m.deletions.Lock(ctx, key); err != nil {
		return nil, fmt.Errorf("wait for another deletion of task %s: %w", id, err)
	}
	return func() { m.deletions.Unlock(key) }, nil
}
