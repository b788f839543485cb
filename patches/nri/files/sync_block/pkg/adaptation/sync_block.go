// SPDX-License-Identifier: Apache-2.0

package adaptation

// PluginSyncBlock is what BlockPluginSync returns.
type PluginSyncBlock struct{}

// BlockPluginSync once kept plugins from registering while a pod operation was
// under way. It blocks nobody any more, since a plugin may join at any time
// and misses nothing. It stays for runtimes that call it.
//
// A runtime must not hold a lock across a request that its SyncFn takes too:
// the request may wait for a plugin that joins, and that for the list. Both end
// with the plugin's timeout for Synchronize, and the plugin with them.
func (r *Adaptation) BlockPluginSync() *PluginSyncBlock { return &PluginSyncBlock{} }

// Unblock does nothing. A nil block may be unblocked, and any more than once.
func (b *PluginSyncBlock) Unblock() {}
