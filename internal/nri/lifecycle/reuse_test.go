// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Runtimes give out new ids, but their tests may not: an object that begins under the id of a
// removed one is another object.
func TestL2_IdMayBeUsedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		a := newPlugin("10-a")
		f.joined(a)
		f.did("RunPodSandbox:p1", "CreateContainer:p1/c1")
		f.end("StopContainer:p1/c1", "RemoveContainer:p1/c1")
		f.did("CreateContainer:p1/c1")
		f.end("StopPodSandbox:p1", "RemovePodSandbox:p1")
		f.did("RunPodSandbox:p1")
		assert.Equal(t, "Synchronize() RunPodSandbox:p1 CreateContainer:p1/c1 StopContainer:p1/c1 RemoveContainer:p1/c1 "+
			"CreateContainer:p1/c1 StopContainer:p1/c1 StopPodSandbox:p1 RemoveContainer:p1/c1 RemovePodSandbox:p1 "+
			"RunPodSandbox:p1", a.received())
	})
}

// A runtime that cannot list, for instance since it holds a lock in its hooks and needs it for
// the list, blocks neither its pods nor the next plugin for good.
func TestL13_ListThatHangsIsCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, func(o *Options) {
			o.List = func(ctx context.Context) (Snapshot, error) {
				<-ctx.Done()
				return Snapshot{}, ctx.Err()
			}
		})
		start := time.Now()
		err := f.join(newPlugin("10-a"))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, syncTimeout, time.Since(start))
		f.did("RunPodSandbox:p1")
	})
}
