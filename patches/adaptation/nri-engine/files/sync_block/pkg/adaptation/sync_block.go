// SPDX-License-Identifier: Apache-2.0

package adaptation

// PluginSyncBlock is what BlockPluginSync returns.
type PluginSyncBlock struct{}

// BlockPluginSync once kept plugins from registering during a pod operation. It
// blocks no plugin any more, since a plugin may join at any time and misses nothing.
// It stays for runtimes that call it. A runtime may also hold a lock of its own
// across its requests and in its SyncFn: a request waits for no plugin whose list
// the runtime has still to take.
func (r *Adaptation) BlockPluginSync() *PluginSyncBlock { return &PluginSyncBlock{} }

// Unblock does nothing. It may be called on a nil block, and more than once.
func (b *PluginSyncBlock) Unblock() {}
