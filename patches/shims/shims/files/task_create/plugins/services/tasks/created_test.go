// SPDX-License-Identifier: Apache-2.0

package tasks

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/containerd/containerd/v2/core/runtime"
)

// created is a task whose shim answers only callers that have not canceled.
type created struct{ runtime.Task }

func (created) PID(ctx context.Context) (uint32, error) { return 7, ctx.Err() }

func TestPIDOfACreatedTaskIsDeliveredThoughTheCallerCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	pid, err := createdPID(ctx, created{})
	require.NoError(t, err)
	require.EqualValues(t, 7, pid)
}
