// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Many plugins connect at once while a pod is created, and each takes its time. They cost the pod
// two timeouts. A plugin that is not asked receives the event late.
func TestL22_PeersThatConnectAtOnceCostOneBound(t *testing.T) {
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
			assert.Equal(t, "Synchronize() RunPodSandbox:p1", p.received(), p.Name())
		}
		assert.Equal(t, "00-slow answered, 10-name0 answered, 10-name1 answered, 10-name2 answered late, 10-name2 skipped, "+
			"10-name3 answered late, 10-name3 skipped", strings.Join(strings.Split(f.journal.outcomes(RunPodSandbox), ", ")[:7], ", "))
	})
}

// A peer connects under a new name each time, takes its time for each pod and disconnects. All
// its connections together cost a pod one bound, like all plugins that connect meanwhile.
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

// While a pod that requires a plugin is created, peers register under the plugin's name and hang.
// They cost the pod one bound together, like other peers.
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
// wait for a plugin that is disconnected.
func TestL22_SuccessorsOfARequiredPluginCostOneBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newHanding(t, func(o *Options) {
			o.Required = func(context.Context, Event) ([]Requirement, error) {
				return []Requirement{{Plugin: "a", Wait: time.Hour}}, nil
			}
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

// A plugin that registers while a pod is created is asked, though another one that registered
// with it has taken its time for Synchronize.
func TestL2_SynchronizeOfOneTakesNoTimeOfOthers(t *testing.T) {
	for _, fails := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(t)
			f.joined(newPlugin("00-slow").takes(requestTimeout/2, RunPodSandbox))
			first, other := newPlugin("10-a"), newPlugin("20-b").reject(RunPodSandbox)
			may := first.untilAllowed()
			ran := f.asks("RunPodSandbox:p1")
			joined := f.comes(first)
			f.joined(other)
			time.Sleep(2 * requestTimeout)
			if !fails {
				close(may)
			}
			require.Equal(t, fails, <-joined != nil)
			require.ErrorIs(t, <-ran, errRejected)
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
		assert.Equal(t, "Synchronize() RunPodSandbox:p1", must.received())
	})
}

// asksPods has n pods created at the same time.
func (f *fixture) asksPods(n int) (ran []<-chan error) {
	for i := range n {
		ran = append(ran, f.asks(fmt.Sprintf("RunPodSandbox:p%d", i)))
	}
	return ran
}

// failures waits for all creations, and returns the errors of those that failed.
func failures(ran []<-chan error) (failed []error) {
	for _, done := range ran {
		if err := <-done; err != nil {
			failed = append(failed, err)
		}
	}
	return failed
}

// Pods wait for a required plugin that is disconnected. It connects, and is lost or hangs in one
// of them. The others wait for it again, as long as is set.
func TestL20_ReturningPluginThatFailsOnePodFailsNoOther(t *testing.T) {
	for how, plugin := range map[string]func() *plugin{
		"hangs":   func() *plugin { return newPlugin("10-must").hang(RunPodSandbox) },
		"is lost": func() *plugin { return newPlugin("10-must").breakAt(RunPodSandbox) },
	} {
		t.Run(how, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t, requires("must"))
				ran := f.asksPods(6)
				f.joined(plugin())
				time.Sleep(requestTimeout + time.Second)
				f.joined(newPlugin("10-must"))
				assert.Len(t, failures(ran), 1)
			})
		})
	}
}

// A latecomer hangs, and its successor, or another plugin of the name, is connected, too: the
// approval of that one is enough.
func TestL20_AnotherLatecomerOfTheNameIsEnough(t *testing.T) {
	for _, name := range []string{"10-must", "20-must"} {
		synctest.Test(t, func(t *testing.T) {
			f := newHanding(t, requires("must"))
			ran := f.asks("RunPodSandbox:p1")
			f.joined(newPlugin("10-must").hang(RunPodSandbox))
			other := newPlugin(name)
			joined := f.comes(other)
			require.NoError(t, <-ran)
			require.NoError(t, <-joined)
			assert.Equal(t, "Synchronize() RunPodSandbox:p1", other.received())
		})
	}
}

// A required plugin takes its time for each pod, and is started again while many are in its line.
// The time in the line does not count as waiting for the plugin: it was connected.
func TestL20_LineOfARequiredPluginIsNoAbsence(t *testing.T) {
	for _, connected := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(t, requires("must"))
			must := newPlugin("10-must")
			must.handle = func(context.Context, Event) (any, error) {
				if must.stall(requestTimeout * 3 / 4); must.isClosed() {
					return nil, ErrClosed
				}
				return nil, nil
			}
			if connected {
				f.joined(must)
			}
			ran := f.asksPods(12)
			if !connected {
				f.joined(must)
			}
			time.Sleep(requiredWait + time.Second)
			must.Close()
			time.Sleep(time.Second)
			f.joined(newPlugin("10-must"))
			assert.Len(t, failures(ran), 1)
		})
	}
}

// Instances of a required name are replaced by others, which hang. An instance that stayed
// connected is asked.
func TestL20_InstanceThatWasConnectedIsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newHanding(t, requires("must"))
		healthy := newPlugin("90-must")
		f.joined(newPlugin("00-slow").takes(time.Second, RunPodSandbox), newPlugin("10-must"), newPlugin("11-must"), healthy)
		ran := f.asks("RunPodSandbox:p1")
		f.joined(newPlugin("10-must").hang(RunPodSandbox), newPlugin("11-must").hang(RunPodSandbox))
		require.NoError(t, <-ran)
		assert.True(t, healthy.had(event("RunPodSandbox:p1")))
	})
}

// A creation has still to ask several plugins, and all are replaced by others that answer. These
// are asked instead, and their rejection counts.
func TestL16_PluginsThatAreReplacedMeanwhileAreAsked(t *testing.T) {
	for how, change := range map[string]func(*Options){
		"disconnected": func(o *Options) { o.MissedEvents = newMemory() },
		"handover":     func(o *Options) { o.HandOver = func(Connection) bool { return true } },
	} {
		t.Run(how, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t, change)
				f.joined(newPlugin("00-slow").takes(requestTimeout/2, RunPodSandbox))
				all := func() (all []*plugin) {
					for i := range 4 {
						all = append(all, newPlugin(fmt.Sprintf("1%d-a", i)).takes(requestTimeout/3, RunPodSandbox))
					}
					return append(all, newPlugin("90-policy").reject(RunPodSandbox))
				}
				firsts := all()
				f.joined(firsts...)
				ran := f.asks("RunPodSandbox:p1")
				for _, p := range firsts {
					if how == "disconnected" {
						p.Close()
					}
				}
				synctest.Wait()
				f.joined(all()...)
				require.ErrorIs(t, <-ran, errRejected)
			})
		})
	}
}

// A plugin registers while many pods are created, and rejects each in its turn. The time that
// pods wait in its line does not count as its time for one pod.
func TestL16_LatecomerIsAskedOfManyPods(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.joined(newPlugin("00-net").takes(requestTimeout/10, RunPodSandbox))
		policy := newPlugin("90-policy")
		policy.handle = func(context.Context, Event) (any, error) {
			policy.stall(requestTimeout / 4)
			return nil, errRejected
		}
		ran := f.asksPods(8)
		f.joined(policy)
		for _, done := range ran {
			require.ErrorIs(t, <-done, errRejected)
		}
	})
}

// Latecomers answer a pod at once, but are busy with another pod for a while before. They cost
// the pod their bound, whether they receive it while they are synchronized or afterwards.
func TestL22_LatecomersThatAreBusyCostOneBound(t *testing.T) {
	for _, syncs := range []time.Duration{0, 150 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(t, func(o *Options) { o.SyncTimeout = o.RequestTimeout })
			f.joined(newPlugin("95-base").takes(1900*time.Millisecond, RunPodSandbox))
			start := time.Now()
			ran := f.asks("RunPodSandbox:p1")
			for i := 0; i < 30 && len(ran) == 0; i++ {
				time.Sleep(1800 * time.Millisecond) // until shortly before the last one has answered
				late, other := newPlugin(fmt.Sprintf("%d-late", 90-i)), fmt.Sprintf("other%d", i)
				late.handle = func(_ context.Context, ev Event) (any, error) {
					if ev.Pod == other {
						late.stall(1900 * time.Millisecond)
					}
					return nil, nil
				}
				f.comes(late.syncs(syncs))
				f.asks("RunPodSandbox:" + other)
				time.Sleep(max(syncs, 50*time.Millisecond))
			}
			require.NoError(t, <-ran)
			assert.LessOrEqual(t, time.Since(start), 4*requestTimeout) // one for the first, one for joins, two for latecomers
			time.Sleep(time.Minute)
		})
	}
}
