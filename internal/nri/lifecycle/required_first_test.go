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

// requiresFirst has every pod and container require a plugin before all others.
func requiresFirst(plugin string, others ...string) func(*Options) {
	return func(o *Options) {
		o.Required = func(context.Context, Event) ([]Requirement, error) {
			all := []Requirement{{Plugin: plugin, Wait: requiredWait, First: true}}
			for _, name := range others {
				all = append(all, Requirement{Plugin: name, Wait: requiredWait})
			}
			return all, nil
		}
	}
}

// What the first plugin replies is in the request that others receive, also those of lower indices.
// Others keep their order.
func TestN5_NetworkPluginIsAskedFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, requiresFirst("net", "30-late"))
		var order []string
		for _, name := range []string{"30-late", "10-early", "20-net", "00-log"} {
			p := newPlugin(name)
			p.handle = func(_ context.Context, ev Event) (any, error) {
				if ev.Kind == RunPodSandbox {
					order = append(order, name+" "+*ev.Request.(*string))
				}
				return "the reply of " + name, nil
			}
			f.joined(p)
		}
		address := "none"
		ev := event("RunPodSandbox:p1")
		ev.Request = &address
		require.NoError(t, f.Ask(t.Context(), ev, func(c Connection, reply any) error {
			if c.Name() == "20-net" {
				address = reply.(string)
			}
			return nil
		}))
		assert.Equal(t, []string{"20-net none", "00-log the reply of 20-net", "10-early the reply of 20-net", "30-late the reply of 20-net"}, order)
	})
}

// While the first plugin is disconnected, no other is asked, also if it disconnects when it is about to
// be asked.
func TestN5_NoPluginIsAskedBeforeTheNetworkPluginReturns(t *testing.T) {
	for name, busy := range map[string]bool{"it is disconnected": false, "it disconnects with another pod": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t, requiresFirst("net"))
				other, net := newPlugin("10-other"), newPlugin("20-net")
				net.hang(RunPodSandbox)
				f.joined(other, net)
				if busy {
					f.asking("RunPodSandbox:p0")
				} else {
					net.Close()
				}
				synctest.Wait()
				ran := f.asking("RunPodSandbox:p1")
				time.Sleep(requestTimeout / 2)
				net.Close()
				synctest.Wait()
				assert.Equal(t, "Synchronize()", other.received())

				asked := make(chan string, 1)
				again := newPlugin("90-net")
				again.handle = func(_ context.Context, ev Event) (any, error) {
					if ev.Pod == "p1" {
						asked <- other.received()
					}
					return nil, nil
				}
				f.joined(again)
				require.NoError(t, <-ran)
				assert.Equal(t, "Synchronize()", <-asked)
				assert.Equal(t, "Synchronize() RunPodSandbox:p1", other.received())
			})
		})
	}
}

// If the first plugin does not answer, no other receives the pod.
func TestN5_PodThatTheNetworkPluginFailsReachesNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, requiresFirst("net"))
		other, net := newPlugin("10-other"), newPlugin("20-net")
		net.hang(RunPodSandbox)
		f.joined(other, net)
		f.unmet(t.Context(), "RunPodSandbox:p1", "net")
		f.unmet(t.Context(), "RunPodSandbox:p2", "net")
		assert.Equal(t, "Synchronize()", other.received())
	})
}

// Those that are asked after the first plugin need their time, too (L28).
func TestN5_NetworkPluginHasItsShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, requiresFirst("net"))
		other, net := f.joinedNoticed("10-other", 0, time.Minute), f.joinedNoticed("20-net", 0, time.Minute)
		ctx, cancel := context.WithTimeout(t.Context(), 24*time.Second) // 4 s are for the roll-back
		defer cancel()
		require.NoError(t, f.ask(ctx, "RunPodSandbox:p1"))
		assert.Equal(t, []time.Duration{10 * time.Second}, net.shares)
		assert.Equal(t, []time.Duration{0}, other.shares)
	})
}
