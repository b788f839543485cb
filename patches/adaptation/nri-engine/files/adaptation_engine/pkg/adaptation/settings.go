// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"fmt"
	"sync/atomic"
	"time"
)

// Timeouts of their own, in nanoseconds; zero stands for the default.
var (
	pluginSyncTimeout  atomic.Int64
	pluginTeardownWait atomic.Int64
)

// SetPluginSyncTimeout sets how long a plugin may take for Synchronize, in all
// of its messages. Zero is the default, the request timeout.
func SetPluginSyncTimeout(t time.Duration) { pluginSyncTimeout.Store(int64(t)) }

// SetPluginTeardownWait sets how long a stop or a removal waits for all
// plugins together. Zero is the default, the request timeout. What is not
// answered by then goes on without anybody waiting.
func SetPluginTeardownWait(t time.Duration) { pluginTeardownWait.Store(int64(t)) }

func getPluginSyncTimeout() time.Duration {
	if t := pluginSyncTimeout.Load(); t > 0 {
		return time.Duration(t)
	}
	return getPluginRequestTimeout()
}

// getListTimeout is how long a plugin waits until the runtime has listed for it. A runtime
// may list with a lock that it holds while it asks other plugins.
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

// DefaultBacklogBytes is how many bytes those may have by default.
const DefaultBacklogBytes = 64 << 20

// WithBacklogBytes sets how many bytes the events may have that wait for one
// plugin. Zero is the default.
func WithBacklogBytes(bytes int) Option {
	return func(r *Adaptation) error {
		if bytes < 0 {
			return fmt.Errorf("backlog of %d bytes: must not be negative", bytes)
		}
		r.backlogBytes = bytes
		return nil
	}
}

// DefaultOverdueLimit is how long a plugin may are overdue by default.
const DefaultOverdueLimit = 10 * time.Minute

// WithOverdueLimit sets how long a plugin that stays connected after a timeout
// may owe its answer before it is dropped all the same. Zero is the default.
func WithOverdueLimit(t time.Duration) Option {
	return func(r *Adaptation) error {
		if t < 0 {
			return fmt.Errorf("overdue limit %s: must not be negative", t)
		}
		r.overdueLimit = t
		return nil
	}
}

// WithBacklogLimit sets how many events may wait for one plugin. A plugin that
// falls behind further is dropped. Zero is the default.
func WithBacklogLimit(events int) Option {
	return func(r *Adaptation) error {
		if events < 0 {
			return fmt.Errorf("backlog limit %d: must not be negative", events)
		}
		r.backlog = events
		return nil
	}
}

// WithOrderedUpdates has all updates of other containers that plugins ask for
// applied by the UpdateFn, in the order in which each plugin said them.
// CreateContainer, UpdateContainer and StopContainer then return none of others. It is for runtimes whose
// requests come side by side: those that apply the updates of a response hold a
// lock around the request, or a later update may be overtaken by an earlier one.
func WithOrderedUpdates() Option {
	return func(r *Adaptation) error {
		r.ordered = true
		return nil
	}
}

// WithPodsInCreation sets whether plugins that synchronize are told of pods that
// are still being created and that they are going to be asked for. They are by
// default.
func WithPodsInCreation(received bool) Option {
	return func(r *Adaptation) error {
		r.omitNew = !received
		return nil
	}
}
