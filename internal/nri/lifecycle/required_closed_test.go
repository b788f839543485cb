// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// An unnoticed plugin has a closed connection that the engine has not noticed yet.
type unnoticed struct {
	*plugin
	asked  atomic.Int32
	notice chan struct{}
}

func newUnnoticed(name string) *unnoticed {
	return &unnoticed{plugin: newPlugin(name), notice: make(chan struct{})}
}

// Closed implements Connection. The first call is that of the engine's watcher.
func (u *unnoticed) Closed() <-chan struct{} {
	if u.asked.Add(1) == 1 {
		return u.notice
	}
	return u.closed
}

func TestL20_ClosedConnectionIsDisconnectedBeforeItIsNoticed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, requires("must"))
		other, must := newPlugin("10-other"), newUnnoticed("20-must")
		f.joined(other)
		require.NoError(t, f.Join(t.Context(), must, must.sync))
		synctest.Wait()
		time.Sleep(time.Minute)
		must.Close()
		gone := time.Now()
		ran := f.asking("RunPodSandbox:p1")
		synctest.Wait()
		assert.Equal(t, gone, f.DisconnectedSince("must"))
		assert.Equal(t, "Synchronize()", other.received(), "no event of a creation that may have to fail")
		close(must.notice)
		next := newPlugin("20-must")
		time.Sleep(requiredWait - time.Second)
		f.joined(next)
		require.NoError(t, <-ran)
		assert.Equal(t, "Synchronize() RunPodSandbox:p1", next.received())
		assert.Equal(t, []string{"RunPodSandbox:p1 must 9s"}, f.journal.awaited)
	})
}

func TestL20_ClosedConnectionIsNotAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, requires("must"))
		must := newUnnoticed("20-must")
		ran := f.closesUnnoticed(must)
		require.Empty(t, ran, "the event was not sent, so the pod waits for the next connection")
		close(must.notice)
		next := newPlugin("20-must")
		f.joined(next)
		require.NoError(t, <-ran)
		assert.Equal(t, "Synchronize() RunPodSandbox:p1", next.received())
	})
}
