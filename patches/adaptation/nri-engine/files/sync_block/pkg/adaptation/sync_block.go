// SPDX-License-Identifier: Apache-2.0

package adaptation

// PluginSyncBlock is what BlockPluginSync returns.
type PluginSyncBlock struct{}

// BlockPluginSync once kept plugins from registering while a pod operation was
// under way. It blocks nobody any more, since a plugin may join at any time
// and misses nothing. It stays for runtimes that call it. A runtime may also hold
// a lock of its own across its requests and in its SyncFn: a request waits for no
// plugin that is still to be listed for.
func (r *Adaptation) BlockPluginSync() *PluginSyncBlock { return &PluginSyncBlock{} }

// Unblock does nothing. A nil block may be unblocked, and any more than once.
func (b *PluginSyncBlock) Unblock() {}
