// SPDX-License-Identifier: Apache-2.0

package tasks

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/anypb"

	api "github.com/containerd/containerd/api/services/tasks/v1"

	"github.com/containerd/containerd/v2/core/metrics"
	"github.com/containerd/containerd/v2/core/runtime"
	"github.com/containerd/containerd/v2/pkg/filters"
	"github.com/containerd/containerd/v2/pkg/timeout"
)

// measured is a task with metrics, unless its shim hangs.
type measured struct {
	runtime.Task
	id    string
	hangs bool
}

func (m measured) ID() string { return m.id }

func (m measured) Stats(ctx context.Context) (*anypb.Any, error) {
	if m.hangs {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return &anypb.Any{}, nil
}

func TestMetricsOfTasksWaitForNoHungShim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		var r api.MetricsResponse
		getTasksMetrics(t.Context(), filters.Always, []runtime.Task{measured{id: "hung", hangs: true}, measured{id: "other"}}, &r)
		require.Len(t, r.GetMetrics(), 1)
		require.Equal(t, "other", r.GetMetrics()[0].GetID())
		require.Equal(t, timeout.Get(metrics.ShimStatsRequestTimeout), time.Since(begun))
	})
}
