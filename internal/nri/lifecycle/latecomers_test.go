// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Many plugins come in at once while a pod is created, and each takes its time: they cost it two
// timeouts. A plugin that is not asked receives the event late.
func TestL22_PeersThatComeAtOnceCostOneBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.joined(newPlugin("00-slow").takes(requestTimeout/2, RunPodSandbox))
		var peers []*plugin
		for i := range 8 {
			peers = append(peers, newPlugin(fmt.Sprintf("10-name%d", i)).takes(requestTimeout*9/10, RunPodSandbox))
		}
		ran, start := f.asks("RunPodSandbox:p1"), time.Now()
		synctest.Wait()
		f.joined(peers...)
		require.NoError(t, <-ran)
		assert.LessOrEqual(t, time.Since(start), requestTimeout/2+2*requestTimeout)
		time.Sleep(requestTimeout)
		for _, p := range peers {
			assert.Equal(t, "Synchronize() RunPodSandbox:p1", p.told(), p.Name())
		}
		assert.Equal(t, "00-slow answered, 10-name0 answered, 10-name1 answered, 10-name2 answered late, 10-name2 passed over, "+
			"10-name3 answered late, 10-name3 passed over", strings.Join(strings.Split(f.journal.outcomes(RunPodSandbox), ", ")[:7], ", "))
	})
}

// A peer comes under a new name each time, takes its time for each pod and leaves: all its
// connections together cost a pod one bound, as those that come in meanwhile do.
func TestL22_PeerUnderManyNamesCostsOneBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.joined(newPlugin("00-slow").takes(requestTimeout/2, RunPodSandbox))
		ctx, stay := context.WithCancel(t.Context())
		var peer sync.WaitGroup
		peer.Go(func() {
			time.Sleep(requestTimeout / 4) // the pod is being created
			for i := 0; ctx.Err() == nil; i++ {
				p := newPlugin(fmt.Sprintf("10-name%d", i)).takes(requestTimeout*9/10, RunPodSandbox)
				peer.Go(func() { _ = f.join(p); <-ctx.Done(); p.Close() })
				select {
				case <-time.After(requestTimeout * 3 / 4):
				case <-ctx.Done():
				}
			}
		})
		assert.LessOrEqual(t, f.runs("p1"), 3*requestTimeout)
		stay()
		peer.Wait()
	})
}

// Peers that register while a pod is created that requires a plugin of their name, and hang, cost
// it what others cost: one bound for all.
func TestL22_PeersUnderARequiredNameCostOneBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, requires("must"))
		ran, start := f.asks("RunPodSandbox:p1"), time.Now()
		synctest.Wait() // it waits for the plugin
		for i := range 31 {
			f.joined(newPlugin(fmt.Sprintf("%d-must", 10+i)).hang(RunPodSandbox))
		}
		var unmet *Unmet
		require.ErrorAs(t, <-ran, &unmet)
		assert.Equal(t, "must", unmet.Plugin)
		assert.LessOrEqual(t, time.Since(start), 2*requestTimeout)
	})
}

// Successors of a required plugin that hang by turns cost a pod one bound, however long it would
// wait for a plugin that is away.
func TestL22_SuccessorsOfARequiredPluginCostOneBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newHanding(t, func(o *Options) {
			o.Required = func(Event) ([]Requirement, error) { return []Requirement{{Plugin: "a", Wait: time.Hour}}, nil }
		})
		f.listed = Snapshot{}
		newOne := func() *plugin { return newPlugin("10-a").hang(RunPodSandbox) }
		f.joined(newOne())
		ctx, stay := context.WithCancel(t.Context())
		var surge sync.WaitGroup
		for range 6 {
			surge.Go(func() { keepsComing(ctx, f, requestTimeout/2, newOne) })
		}
		patience, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
		defer cancel()
		start := time.Now()
		var unmet *Unmet
		require.ErrorAs(t, f.ask(patience, "RunPodSandbox:p1"), &unmet)
		assert.LessOrEqual(t, time.Since(start), 4*requestTimeout)
		stay()
		f.Close()
		surge.Wait()
	})
}

// A plugin that registers while a pod is created is asked, though another one that registered with
// it has taken its time for Synchronize.
func TestL2_SynchronizeOfOneTakesNoTimeOfOthers(t *testing.T) {
	for _, fails := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(t)
			f.joined(newPlugin("00-slow").takes(requestTimeout/2, RunPodSandbox))
			first, other := newPlugin("10-a"), newPlugin("20-b").refuse(RunPodSandbox)
			may := first.untilAllowed()
			ran := f.asks("RunPodSandbox:p1")
			joined := f.comes(first)
			f.joined(other)
			time.Sleep(2 * requestTimeout)
			if !fails {
				close(may)
			}
			require.Equal(t, fails, <-joined != nil)
			require.ErrorIs(t, <-ran, errRefused)
		})
	}
}

// A required plugin that registers while a pod is created is asked, though others that registered
// with it have taken their time.
func TestL20_OthersDoNotTakeTheTimeOfARequiredPlugin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, requires("must"))
		ran := f.asks("RunPodSandbox:p1")
		synctest.Wait()
		must := newPlugin("90-must")
		f.joined(newPlugin("10-a").hang(RunPodSandbox), newPlugin("20-b").takes(requestTimeout/2, RunPodSandbox), must)
		require.NoError(t, <-ran)
		assert.Equal(t, "Synchronize() RunPodSandbox:p1", must.told())
	})
}

// podsRequire has some pods require a plugin.
func podsRequire(r Requirement, pods ...string) func(*Options) {
	return func(o *Options) {
		o.Required = func(ev Event) (rs []Requirement, err error) {
			if slices.Contains(pods, ev.Pod) {
				rs = append(rs, r)
			}
			return rs, nil
		}
	}
}

// One plugin that registers while a pod is created has the events of others in its line, and takes
// its time for each: the pod does not wait for all of them.
func TestL22_LineOfALatecomerIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.did("RunPodSandbox:p0")
		f.listed = Snapshot{Pods: pods("p0")}
		slow := newPlugin("00-slow").takes(requestTimeout/2, RunPodSandbox)
		slow.wants = func(k Kind) bool { return k == RunPodSandbox }
		f.joined(slow)
		peer := newPlugin("10-a").takes(requestTimeout*9/10, UpdatePodSandbox)
		ran, start := f.asks("RunPodSandbox:p1"), time.Now()
		f.joined(peer)
		for range 20 {
			f.asks("UpdatePodSandbox:p0")
		}
		require.NoError(t, <-ran)
		assert.Equal(t, requestTimeout/2+requestTimeout, time.Since(start))
		time.Sleep(20 * requestTimeout)
		assert.True(t, peer.had(event("RunPodSandbox:p1")), "late")
	})
}

// Likewise if these wait with the pod for its Synchronize.
func TestL22_LineOfALatecomerThatJoinsIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.did("RunPodSandbox:p0")
		f.listed = Snapshot{Pods: pods("p0")}
		slow := newPlugin("00-slow").takes(requestTimeout/2, RunPodSandbox)
		slow.wants = func(k Kind) bool { return k == RunPodSandbox }
		f.joined(slow)
		peer := newPlugin("10-a").takes(requestTimeout*9/10, UpdatePodSandbox)
		may := peer.untilAllowed()
		ran, start := f.asks("RunPodSandbox:p1"), time.Now()
		joined := f.comes(peer)
		for range 20 {
			f.asks("UpdatePodSandbox:p0")
		}
		time.Sleep(requestTimeout)
		close(may)
		require.NoError(t, <-joined)
		require.NoError(t, <-ran)
		assert.LessOrEqual(t, time.Since(start), requestTimeout/2+syncTimeout)
	})
}

// Plugins that were there are replaced while a pod is with another one, and hang each: they have
// come in since, and cost it one bound.
func TestL22_PluginsThatAreReplacedMeanwhileCostOneBound(t *testing.T) {
	for how, change := range map[string]func(*Options){
		"by chance": func(*Options) {},
		"owed":      func(o *Options) { o.Owed = newMemory() },
		"handover":  func(o *Options) { o.HandOver = func(Connection) bool { return true } },
	} {
		t.Run(how, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t, change)
				ran, start := f.replaces("x", how != "handover")
				require.NoError(t, <-ran)
				assert.LessOrEqual(t, time.Since(start), requestTimeout/2+2*requestTimeout)
			})
		})
	}
}

// So do those of a name that the pod requires.
func TestL22_RequiredPluginsThatAreReplacedMeanwhileCostOneBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, requires("must"), func(o *Options) { o.Owed = newMemory() })
		ran, start := f.replaces("must", true)
		var unmet *Unmet
		require.ErrorAs(t, <-ran, &unmet)
		assert.LessOrEqual(t, time.Since(start), requestTimeout/2+2*requestTimeout)
	})
}

// replaces has a pod created, during which ten plugins of a name are replaced by others that hang.
func (f *fixture) replaces(base string, leave bool) (ran <-chan error, start time.Time) {
	f.joined(newPlugin("00-slow").takes(requestTimeout/2, RunPodSandbox))
	var firsts []*plugin
	for i := range 10 {
		firsts = append(firsts, newPlugin(fmt.Sprintf("%d-%s", 10+i, base)))
	}
	f.joined(firsts...)
	ran, start = f.asks("RunPodSandbox:p1"), time.Now()
	for _, p := range firsts {
		if leave {
			p.Close()
		}
	}
	synctest.Wait()
	for i := range 10 {
		f.joined(newPlugin(fmt.Sprintf("%d-%s", 10+i, base)).hang(RunPodSandbox))
	}
	return ran, start
}

// Successors take over from healthy plugins while the pod is in their line, and hang.
func TestL22_SuccessorsThatTakeOverInTheLineCostOneBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newHanding(t)
		const n = 8
		f.joined(newPlugin("00-slow").takes(requestTimeout/4, RunPodSandbox))
		for i := range n {
			f.joined(newPlugin(fmt.Sprintf("%d-x", 10+i)))
		}
		ran, start := f.asks("RunPodSandbox:p1"), time.Now()
		for i := 0; i < n && len(ran) == 0; i++ {
			next := newPlugin(fmt.Sprintf("%d-x", 10+i)).hang(RunPodSandbox)
			next.synchronize = func(ctx context.Context, _ Snapshot) error { return pause(ctx, requestTimeout*2/5) }
			f.joined(next)                     // the pod is in the line
			time.Sleep(requestTimeout * 3 / 4) // it hangs
		}
		require.NoError(t, <-ran)
		assert.LessOrEqual(t, time.Since(start), 3*requestTimeout)
	})
}

// Pods wait for a required plugin that is away. It comes, and is lost or hangs at one of them: the
// others wait for it again, as long as is set.
func TestL20_PluginThatComesAndFailsOnePodFailsNoOther(t *testing.T) {
	for how, plugin := range map[string]func() *plugin{
		"hangs":   func() *plugin { return newPlugin("10-must").hang(RunPodSandbox) },
		"is lost": func() *plugin { return newPlugin("10-must").breakAt(RunPodSandbox) },
	} {
		t.Run(how, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t, requires("must"))
				var ran []<-chan error
				for i := range 6 {
					ran = append(ran, f.asks(fmt.Sprintf("RunPodSandbox:p%d", i)))
				}
				f.joined(plugin())
				time.Sleep(requestTimeout + time.Second)
				f.joined(newPlugin("10-must"))
				var failed []error
				for _, done := range ran {
					if err := <-done; err != nil {
						failed = append(failed, err)
					}
				}
				assert.Len(t, failed, 1)
			})
		})
	}
}

// One that comes and hangs has its successor, or another plugin of the name, beside it: that will do.
func TestL20_AnotherLatecomerOfTheNameWillDo(t *testing.T) {
	for _, name := range []string{"10-must", "20-must"} {
		synctest.Test(t, func(t *testing.T) {
			f := newHanding(t, requires("must"))
			ran := f.asks("RunPodSandbox:p1")
			f.joined(newPlugin("10-must").hang(RunPodSandbox))
			other := newPlugin(name)
			joined := f.comes(other)
			require.NoError(t, <-ran)
			require.NoError(t, <-joined)
			assert.Equal(t, "Synchronize() RunPodSandbox:p1", other.told())
		})
	}
}

// Time in the line of a plugin that goes before it was asked is time for which it is waited for.
func TestL20_WaitIncludesTheLineOfThoseThatGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, podsRequire(Requirement{Plugin: "must", Wait: requiredWait}, "p1"))
		f.did("RunPodSandbox:p0")
		f.listed = Snapshot{Pods: pods("p0")}
		start := time.Now()
		ran := f.asks("RunPodSandbox:p1")
		for i := 0; i < 10 && len(ran) == 0; i++ {
			peer := newPlugin("10-must").hang(UpdatePodSandbox)
			may := peer.untilAllowed()
			joined := f.comes(peer)
			updated := f.asks("UpdatePodSandbox:p0") // before the pod
			close(may)
			require.NoError(t, <-joined)
			<-updated
			synctest.Wait()
		}
		var unmet *Unmet
		require.ErrorAs(t, <-ran, &unmet)
		assert.Equal(t, requiredWait, unmet.Waited)
		assert.Equal(t, requiredWait, time.Since(start))
	})
}
