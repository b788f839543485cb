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

// A pod whose hook is still to come is left out of the list: the plugin receives it with its
// hook. If the hook does not come, the plugin does not receive its end either.
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

// A plugin that joins during the hook of another plugin will be asked.
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

// Between the last approval and the moment in which the runtime lists the pod as Ready no plugin
// is asked any more: a plugin that joins then must find the pod in its list.
func TestL2_ApprovedPodIsNotLeftOut(t *testing.T) {
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
