// SPDX-License-Identifier: Apache-2.0

package v2

import (
	"context"
	"fmt"

	"github.com/containerd/containerd/v2/core/runtime"
	"github.com/containerd/containerd/v2/pkg/namespaces"
)

// lockTask waits until no other caller deletes the task, or ctx ends.
//
// Of two deletions at once, a shim answers one that there is no such task before the other one
// has removed the task from the shim's list. A shutdown has no effect in between.
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

// deletedMeanwhile returns the exit of a task that another caller has deleted while this one
// waited. It returns nil if the task still exists, or did not exist before.
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
