// SPDX-License-Identifier: Apache-2.0

package v2

import (
	"context"
	"fmt"

	"github.com/containerd/containerd/v2/core/runtime"
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

// deletedMeanwhile is the exit of a task that another caller has deleted while this one
// waited for it, and nil if there is a task to delete, or none was there before.
func (m *ShimManager) deletedMeanwhile(ctx context.Context, id string, before ShimInstance) *runtime.Exit {
	deleted, ok := before.(interface{ taskDeleteResult() *runtime.Exit })
	if !ok {
		return nil
	}
	if _, err := m.shims.Get(ctx, id); err == nil {
		return nil
	}
	return deleted.taskDeleteResult()
}
