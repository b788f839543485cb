// SPDX-License-Identifier: Apache-2.0

package tasks

import (
	"context"
	"time"

	"github.com/containerd/containerd/v2/core/runtime"
)

// pidTime is how long a shim has to tell the pid of a task that it has just created.
const pidTime = 10 * time.Second

// createdPID asks for the pid of a task that was created, also if the caller has given up by
// then: with an error in place of the task nobody would know that there is one to delete.
func createdPID(ctx context.Context, task runtime.Task) (uint32, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), pidTime)
	defer cancel()
	return task.PID(ctx)
}
