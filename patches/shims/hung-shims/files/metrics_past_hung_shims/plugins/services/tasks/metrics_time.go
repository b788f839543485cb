// SPDX-License-Identifier: Apache-2.0

package tasks

import (
	"context"

	"google.golang.org/protobuf/types/known/anypb"

	"github.com/containerd/containerd/v2/core/metrics"
	"github.com/containerd/containerd/v2/core/runtime"
	"github.com/containerd/containerd/v2/pkg/timeout"
)

// statsInTime returns the metrics of a task within the time that a shim has for them, so that one that
// hangs does not withhold those of the other tasks.
func statsInTime(ctx context.Context, t runtime.Task) (*anypb.Any, error) {
	ctx, cancel := timeout.WithContext(ctx, metrics.ShimStatsRequestTimeout)
	defer cancel()
	return t.Stats(ctx)
}
