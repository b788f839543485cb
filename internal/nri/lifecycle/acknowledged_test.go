// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/internal/nri/lifecycle/ledger"
)

// acknowledged returns the containers for which a plugin has received that an update is over, though
// the runtime has sent no event.
func (p *plugin) acknowledged() (all []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.history {
		if r.Kind == PostUpdateContainer && r.Late && r.Request == nil {
			all = append(all, r.Container)
		}
	}
	return all
}

// The plugin that asked for an update receives what holds, and no other.
func TestL27_UpdateIsAcknowledged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := newPlugin("10-a"), newPlugin("20-b")
		f := newUpdated(t, a, b)
		f.Tell(a, "p1", "c1")
		synctest.Wait()
		assert.Equal(t, []string{"c1"}, a.acknowledged())
		assert.Empty(t, b.acknowledged())
	})
}

func TestL27_PluginThatDoesNotSubscribeReceivesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newPlugin("10-a")
		a.wants = func(k Kind) bool { return k != PostUpdateContainer }
		f := newUpdated(t, a)
		f.Tell(a, "p1", "c1")
		synctest.Wait()
		assert.Empty(t, a.acknowledged())
	})
}

// However many updates of a container a busy plugin has asked for, it receives what holds once.
func TestL27_AcknowledgementsFillNoLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, a, busy := hungPlugin(t)
		for range 5 {
			f.Tell(a, "p1", "c1")
		}
		close(busy)
		synctest.Wait()
		assert.Equal(t, []string{"c1"}, a.acknowledged())
	})
}

// While an update is under way, nothing says what holds. It ends here in both ways.
func TestL27_AcknowledgementWaitsForTheEndOfAnUpdate(t *testing.T) {
	for name, end := range map[string]func(*fixture){
		"held":   func(f *fixture) { f.did("PostUpdateContainer:p1/c1") },
		"failed": func(f *fixture) { require.NoError(f.t, f.Refused(event("UpdateContainer:p1/c1"))) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := newPlugin("10-a")
				a.wants = func(k Kind) bool { return k != UpdateContainer }
				f := newUpdated(t, a)
				require.NoError(t, f.Ask(t.Context(), update("UpdateContainer:p1/c1"), nil))
				for range 2 {
					f.Tell(a, "p1", "c1")
					synctest.Wait()
				}
				assert.Empty(t, a.acknowledged(), "the update is under way")
				assert.Len(t, f.updates.underWay[ledger.ID{Pod: "p1", Container: "c1"}].postponed, 1)
				end(f)
				synctest.Wait()
				assert.Equal(t, []string{"c1"}, a.acknowledged())
			})
		})
	}
}

// A plugin receives nothing of a container that it does not know, or that has ended (L3, L11).
func TestL27_EndedContainerIsNotAcknowledged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newPlugin("10-a")
		f := newUpdated(t, a)
		f.Tell(a, "p1", "c2")
		require.NoError(t, f.end("StopContainer:p1/c1"))
		f.Tell(a, "p1", "c1")
		synctest.Wait()
		assert.Empty(t, a.acknowledged())
	})
}

// The plugin that asked for an update has connected again when that is over.
func TestL27_PluginThatReturnedReceivesTheAcknowledgement(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newPlugin("10-a")
		f := newUpdated(t, a)
		f.listed = Snapshot{Pods: pods("p1"), Containers: []Object{{Pod: "p1", Container: "c1"}}}
		a.Close()
		synctest.Wait()
		again := newPlugin("10-a")
		f.joined(again)
		f.Tell(a, "p1", "c1")
		synctest.Wait()
		assert.Equal(t, []string{"c1"}, again.acknowledged())
	})
}

// So has its successor, which was listed for before.
func TestL27_SuccessorReceivesTheAcknowledgement(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, first := newFixture(t, takesBack, handsOver), newPlugin("10-a")
		next, joined := slowSuccessor(t, f, first, func() {})
		f.Tell(first, "p1", "c1")
		require.NoError(t, <-joined)
		synctest.Wait()
		assert.Equal(t, []string{"c1"}, next.acknowledged())
	})
}

// Two connections of a name are served side by side. One of them asked.
func TestL27_DuplicateReceivesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, duplicate := newPlugin("10-a"), newPlugin("10-a")
		f := newUpdated(t, a, duplicate)
		f.Tell(a, "p1", "c1")
		f.Tell(duplicate, "p1", "c1")
		synctest.Wait()
		assert.Equal(t, []string{"c1"}, a.acknowledged())
		assert.Equal(t, []string{"c1"}, duplicate.acknowledged())
	})
}
