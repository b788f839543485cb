// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func omitting(o *Options) { o.OmitCreating = true }

func creating(id string) []Object { return []Object{{Pod: id, Creating: true}} }

// A pod whose hook is to come is left out, and comes with its hook; if it does
// not come to that, its end does not come either.
func TestL2_PodInCreationIsLeftOutForItsHook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, omitting)
		a := newPlugin("10-a")
		f.listed.Pods = append(creating("p1"), creating("p2")...)
		f.joined(a)
		f.did("RunPodSandbox:p1")
		require.NoError(t, f.end("StopPodSandbox:p2", "RemovePodSandbox:p2"))
		require.NoError(t, f.end("StopPodSandbox:p1", "RemovePodSandbox:p1"))
		assert.Equal(t, "Synchronize() RunPodSandbox:p1 StopPodSandbox:p1 RemovePodSandbox:p1", a.received())
	})
}

// Who joins during the hook of another plugin will be asked.
func TestL2_PodIsLeftOutDuringTheHookOfAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, omitting)
		a, b := newPlugin("10-a"), newPlugin("20-b")
		a.handle = func(_ context.Context, ev Event) (any, error) {
			if ev.Kind == RunPodSandbox {
				f.listed.Pods = creating("p1")
				f.joined(b)
			}
			return nil, nil
		}
		f.joined(a)
		f.did("RunPodSandbox:p1")
		assert.Equal(t, "Synchronize() RunPodSandbox:p1", b.received())
	})
}

// Between the last agreement and the moment in which the runtime says that the
// pod is ready nobody is asked any more: who joins then has to find it.
func TestL2_PodThatAllAgreedToIsNotLeftOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, omitting)
		f.did("RunPodSandbox:p1")
		a := newPlugin("10-a")
		f.listed.Pods = creating("p1")
		f.joined(a)
		require.NoError(t, f.end("StopPodSandbox:p1", "RemovePodSandbox:p1"))
		assert.Equal(t, "Synchronize(p1) StopPodSandbox:p1 RemovePodSandbox:p1", a.received())
		assert.Empty(t, f.agreed, "nothing is kept of a pod that ended")
	})
}
