// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"context"
	"strconv"
	"time"

	"github.com/containerd/ttrpc"
)

// Share returns the plugin's part of the time that the caller of a request leaves to all plugins. It is 0
// if that is enough for all of them, and on a runtime that sends no shares. It travels in the metadata of
// the request, as milliseconds.
func Share(ctx context.Context) time.Duration {
	text, _ := ttrpc.GetMetadataValue(ctx, "nri-time-share")
	ms, err := strconv.ParseInt(text, 10, 32)
	if err != nil || ms < 0 {
		return 0
	}
	return time.Duration(ms) * time.Millisecond
}
