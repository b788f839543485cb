// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"fmt"
	"sync/atomic"
	"time"
)

// Timeouts in nanoseconds. Zero stands for the default.
var (
	pluginSyncTimeout  atomic.Int64
	pluginTeardownWait atomic.Int64
)

// SetPluginSyncTimeout sets how long a plugin may take for Synchronize, with all
// of its messages together. Zero is the default, the request timeout.
func SetPluginSyncTimeout(t time.Duration) { pluginSyncTimeout.Store(int64(t)) }

// SetPluginTeardownWait sets how long a stop or a removal waits for all
// plugins together. Zero is the default, the request timeout. Requests that are not
// answered by then go on in the background.
func SetPluginTeardownWait(t time.Duration) { pluginTeardownWait.Store(int64(t)) }

func getPluginSyncTimeout() time.Duration {
	if t := pluginSyncTimeout.Load(); t > 0 {
		return time.Duration(t)
	}
	return getPluginRequestTimeout()
}

// getListTimeout is how long a plugin that joins waits for the runtime's list. A runtime
// may need a lock for it that it also holds while it calls other plugins.
func getListTimeout() time.Duration {
	return max(getPluginRegistrationTimeout(), getPluginSyncTimeout())
}

func getPluginTeardownWait() time.Duration {
	if t := pluginTeardownWait.Load(); t > 0 {
		return time.Duration(t)
	}
	return getPluginRequestTimeout()
}

// DefaultBacklogLimit is how many events may wait for one plugin by default.
const DefaultBacklogLimit = 4096

// DefaultBacklogBytes is how many bytes those events may have by default.
const DefaultBacklogBytes = 64 << 20

// WithBacklogBytes sets how many bytes the waiting events of one plugin may have
// together. A plugin with more is dropped. Zero is the default.
func WithBacklogBytes(bytes int) Option {
	return func(r *Adaptation) error {
		if bytes < 0 {
			return fmt.Errorf("backlog of %d bytes: must not be negative", bytes)
		}
		r.backlogBytes = bytes
		return nil
	}
}

// DefaultOverdueLimit is how long a plugin may be overdue by default.
const DefaultOverdueLimit = 10 * time.Minute

// WithOverdueLimit sets how long a plugin that stays connected after a timeout
// may be overdue before it is dropped all the same. Zero is the default.
func WithOverdueLimit(t time.Duration) Option {
	return func(r *Adaptation) error {
		if t < 0 {
			return fmt.Errorf("overdue limit %s: must not be negative", t)
		}
		r.overdueLimit = t
		return nil
	}
}

// WithBacklogLimit sets how many events may wait for one plugin. A plugin with more
// is dropped. Zero is the default.
func WithBacklogLimit(events int) Option {
	return func(r *Adaptation) error {
		if events < 0 {
			return fmt.Errorf("backlog limit %d: must not be negative", events)
		}
		r.backlog = events
		return nil
	}
}

// WithOrderedUpdates has UpdateFn apply all updates of other containers, in the order
// in which each plugin asked for them. CreateContainer, UpdateContainer and
// StopContainer then return no updates of other containers. It is for runtimes that
// send requests side by side. Without it, a runtime that applies the updates of a
// response must hold a lock around the request, or an earlier update may overwrite a
// later one.
func WithOrderedUpdates() Option {
	return func(r *Adaptation) error {
		r.ordered = true
		return nil
	}
}

// WithPodsInCreation sets whether Synchronize includes pods that are still being
// created and whose RunPodSandbox the plugin is going to receive. The default is true.
func WithPodsInCreation(received bool) Option {
	return func(r *Adaptation) error {
		r.omitNew = !received
		return nil
	}
}
