// SPDX-License-Identifier: Apache-2.0

package tasks

import (
	"context"
	"time"

	"github.com/containerd/containerd/v2/core/runtime"
)

// pidTime is how long a shim has to return the pid of a task that it has just created.
const pidTime = 10 * time.Second

// createdPID returns the pid of a task that was created, also if the caller has canceled by then.
// If it failed, no caller would know that there is a task to delete.
func createdPID(ctx context.Context, task runtime.Task) (uint32, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), pidTime)
	defer cancel()
	return task.PID(ctx)
}
