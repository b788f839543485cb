// SPDX-License-Identifier: Apache-2.0

package pods

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
)

// At whatever step a creation is when its caller cancels, all of it is undone.
func TestL7_CreationIsUndoneWhereverTheCallerGoes(t *testing.T) {
	t.Parallel()
	for _, w := range Waves {
		t.Run(w.Name, func(t *testing.T) { callersGone(t, w, codes.Canceled, time.Minute) })
	}
}

// The same when the caller's deadline passes, at the longest steps.
func TestL7_CreationIsUndoneWhenTheCallersTimeIsUp(t *testing.T) {
	t.Parallel()
	for _, w := range Waves {
		switch w.Name {
		case "network", "process", "last hook":
			t.Run(w.Name, func(t *testing.T) {
				t.Parallel() // each waits for its callers' deadline, by which all pods must be held
				callersGone(t, w, codes.DeadlineExceeded, 20*time.Second)
			})
		}
	}
}

// callersGone cancels the callers of a wave when all pods are held, or lets their deadlines pass.
func callersGone(t *testing.T, w Wave, how codes.Code, patience time.Duration) {
	c := NewCreations(t, w)
	Connect(t, c.N, c.Plugins["first"], c.Plugins["second"])
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	Promise(t, "L14", "pods reach the steps at which they are held", w.Stock.Gone.Held, func(t require.TestingT) { c.RequireHeld(ctx, t) })
	if how == codes.Canceled {
		cancel()
	}
	stock := KeptOnStock
	switch {
	case how == codes.DeadlineExceeded:
		stock = TakesForPlugins
	case w.Stock.Gone.Held.Sometimes:
		stock = w.Stock.Gone.Held // then their deadlines pass
	}
	Promise(t, "L7", "callers receive DeadlineExceeded or Canceled", stock, func(t require.TestingT) {
		for _, held := range c.Held {
			assert.Equal(t, how, status.Code(<-held.Ran), held.Pod())
		}
	})
	RequireNoticed(t, c.N.CRI())
	c.Release(t)
	Promise(t, "L7", "nothing is left of pods whose callers canceled", w.Stock.Gone.Left, func(t require.TestingT) { RequireNothingLeft(t, c.N) })
	Promise(t, "L7", "plugins that know them receive their end", w.Stock.Gone.Delivered, func(t require.TestingT) { c.RequireEndsDelivered(t) })
	Promise(t, "L7", "they can be created again", w.Stock.Gone.Again, func(t require.TestingT) {
		c.RequireRunAgain(t, func(ctx context.Context, config *runtime.PodSandboxConfig) (string, error) {
			return RunOnceNameIsFree(ctx, c.N, config)
		})
		RequireNothingLeft(t, c.N)
	})
}
