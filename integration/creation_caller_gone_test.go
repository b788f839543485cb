// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// Wherever a creation is when its caller goes away, all of it is undone.
func TestL7_CreationIsUndoneWhereverTheCallerGoes(t *testing.T) {
	t.Parallel()
	for _, w := range waves {
		t.Run(w.name, func(t *testing.T) { w.callersGone(t, codes.Canceled, time.Minute) })
	}
}

// The same when the caller's time is up, at the longest steps.
func TestL7_CreationIsUndoneWhenTheCallersTimeIsUp(t *testing.T) {
	t.Parallel()
	for _, w := range waves {
		switch w.name {
		case "network", "process", "last hook":
			t.Run(w.name, func(t *testing.T) {
				t.Parallel() // each waits for the end of its callers' time, in which all have to be held
				w.callersGone(t, codes.DeadlineExceeded, 20*time.Second)
			})
		}
	}
}

// callersGone has the callers of a wave give up when all are held, or run out of patience.
func (w wave) callersGone(t *testing.T, how codes.Code, patience time.Duration) {
	c := newCreations(t, w)
	connect(t, c.n, c.plugins["first"], c.plugins["second"])
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	promise(t, "L14", "pods get to where they are held", w.stock.gone.held, func(t require.TestingT) { c.requireHeld(ctx, t) })
	if how == codes.Canceled {
		cancel()
	}
	stock := keptOnStock
	switch {
	case how == codes.DeadlineExceeded:
		stock = takesForPlugins
	case w.stock.gone.held.Sometimes:
		stock = w.stock.gone.held // then it is their time that ends
	}
	promise(t, "L7", "callers hear that their time is over", stock, func(t require.TestingT) {
		for _, held := range c.held {
			assert.Equal(t, how, status.Code(<-held.ran), held.pod())
		}
	})
	requireNoticed(t, c.n.CRI())
	c.release(t)
	promise(t, "L7", "nothing is left of pods whose callers are gone", w.stock.gone.left, func(t require.TestingT) { requireNothingLeft(t, c.n) })
	promise(t, "L7", "plugins that know of them are told of their end", w.stock.gone.told, func(t require.TestingT) { c.requireEndsTold(t) })
	promise(t, "L7", "they can be created again", w.stock.gone.again, func(t require.TestingT) {
		c.requireRunAgain(t, func(ctx context.Context, config *runtime.PodSandboxConfig) (string, error) {
			return runOnceNameIsFree(ctx, c.n, config)
		})
		requireNothingLeft(t, c.n)
	})
}
