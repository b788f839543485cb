// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"context"
	"sync"
	"testing"

	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	. "github.com/hookline-nri/hookline/conformance/fixture"
)

// WatchNetwork asks for the status all the time, as long as there is a runtime to answer. The
// function that it returns ends that once it has had an answer, and returns all of them.
func WatchNetwork(t *testing.T, n Runtime) func() []*runtime.RuntimeCondition {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var all []*runtime.RuntimeCondition
	first := make(chan struct{})
	var asks sync.WaitGroup
	asks.Go(func() {
		for ctx.Err() == nil {
			if c, err := NetworkCondition(ctx, n); err == nil {
				if len(all) == 0 {
					close(first)
				}
				all = append(all, c)
			}
		}
	})
	return func() []*runtime.RuntimeCondition {
		t.Helper()
		RequireClosed(t, first, "an answer of Status")
		cancel()
		asks.Wait()
		return all
	}
}
