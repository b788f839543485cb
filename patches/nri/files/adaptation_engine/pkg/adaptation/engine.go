// SPDX-License-Identifier: Apache-2.0

package adaptation

import "github.com/hookline-nri/hookline/internal/nri/lifecycle"

// newEngine returns the engine that all events go through. It keeps order and
// waits per plugin; no lock of the adaptation is held while one is asked.
func (r *Adaptation) newEngine() *lifecycle.Engine {
	backlog := r.backlog
	if backlog == 0 {
		backlog = DefaultBacklogLimit
	}
	return lifecycle.New(lifecycle.Options{
		RequestTimeout: getPluginRequestTimeout,
		SyncTimeout:    getPluginSyncTimeout,
		TeardownWait:   getPluginTeardownWait,
		BacklogLimit:   backlog,
		OmitCreating:   r.omitNew,
		Ending:         owed,
		Observer:       observer{r},
	})
}
