// SPDX-License-Identifier: Apache-2.0

package cases

import (
	"context"
	"errors"

	"github.com/containerd/nri/pkg/api"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/testkit/plugin"
	"github.com/hookline-nri/hookline/updates"
)

// sharesElse are CPU shares that a plugin asks for, other than sharesBefore and sharesAsked.
const sharesElse = 500

// wants is an update that is to be acknowledged, of the CPU shares and the CPUs of a container. One
// without CPUs changes none.
func wants(container string, shares uint64, cpus string) *api.ContainerUpdate {
	u := &api.ContainerUpdate{ContainerId: container}
	u.SetLinuxCPUShares(shares)
	if cpus != "" {
		u.SetLinuxCPUSetCPUs(cpus)
	}
	updates.Acknowledge(u)
	return u
}

// replies lets a plugin answer an event of one pod with updates.
func replies(p *plugin.Plugin, event plugin.Event, pod string, all ...*api.ContainerUpdate) {
	p.On(event, func(_ context.Context, call *plugin.Call) error {
		if call.Pod.GetName() == pod {
			call.Update = all
		}
		return nil
	})
}

// A receipt is what a plugin has received of a container after an update.
type receipt struct {
	container string
	shares    int64
}

// received returns what a plugin has received of containers after updates.
func received(p *plugin.Plugin) (all []receipt) {
	for _, call := range p.Calls().Only(plugin.PostUpdateContainer) {
		all = append(all, receipt{call.Container.GetId(), shares(call.Container.GetLinux().GetResources())})
	}
	return all
}

// receives waits until a plugin has received what containers have after updates, and nothing else,
// behind its first receipts.
func receives(p *plugin.Plugin, first int, want ...receipt) func(require.TestingT) {
	return Eventually(func(t require.TestingT) { assert.Equal(t, want, received(p)[first:]) })
}

const heardNothing = "it received nothing"

var _ = Container.has("L27_UpdatesInRepliesAreAcknowledged", Needs{}, func(t T) {
	n := t.Runtime()
	p, other := NewPlugin(t, "10", "asks"), NewPlugin(t, "20", "other")
	Connect(t, n, p, other)
	held, failed := NewLife(t, n, "held"), NewLife(t, n, "failed")
	for _, l := range []Life{held, failed} {
		require.NoError(t, updateOf(n, l.Container)(WithinAMinute(t), sharesBefore, ""))
	}
	before, beforeOther := len(received(p)), received(other)
	all := []*api.ContainerUpdate{wants(held.Container, sharesAsked, ""), wants(failed.Container, sharesAsked, noSuchCPU)}
	replies(p, plugin.CreateContainer, "asking", all...)

	asking := NewLife(t, n, "asking")

	t.Promise("L27", "a plugin hears which updates of its reply to CreateContainer held", OnStock(heardNothing), Eventually(func(t require.TestingT) {
		assert.Equal(t, []receipt{{held.Container, sharesAsked}, {failed.Container, sharesBefore}}, received(p)[before:])
		for i, call := range p.Calls().Only(plugin.PostUpdateContainer)[before:] {
			assert.Equal(t, i == 0, updates.Held(all[i], call.Container))
		}
	}))
	replies(p, plugin.StopContainer, "asking", wants(held.Container, sharesBefore, ""))
	asking.End(t)
	t.Promise("L27", "and of its reply to StopContainer", OnStock(heardNothing),
		receives(p, before, receipt{held.Container, sharesAsked}, receipt{failed.Container, sharesBefore}, receipt{held.Container, sharesBefore}))
	t.Promise("L27", "other plugins receive none of this", KeptOnStock, func(t require.TestingT) {
		assert.Equal(t, beforeOther, received(other))
	})
	held.End(t)
	failed.End(t)
})

// A plugin makes room for a container, which another plugin then rejects.
var _ = Container.has("L27_DroppedUpdateIsAcknowledged", Needs{}, func(t T) {
	n := t.Runtime()
	p, rejects := NewPlugin(t, "10", "asks"), NewPlugin(t, "20", "rejects")
	Connect(t, n, p, rejects)
	l := NewLife(t, n, "running")
	require.NoError(t, updateOf(n, l.Container)(WithinAMinute(t), sharesBefore, ""))
	before := len(received(p))
	replies(p, plugin.CreateContainer, "rejected", wants(l.Container, sharesAsked, ""))
	rejects.On(plugin.CreateContainer, func(_ context.Context, call *plugin.Call) error {
		if call.Pod.GetName() == "rejected" {
			return errors.New("not now")
		}
		return nil
	})
	c, config := n.CRI(), n.CRI().Pod("rejected")
	pod, err := c.RunPod(WithinAMinute(t), config)
	require.NoError(t, err)
	_, err = c.Create(WithinAMinute(t), pod, config, c.Container("main"))
	require.ErrorContains(t, err, "not now")

	t.Promise("L27", "a plugin hears that an update was dropped with its request", OnStock(heardNothing), receives(p, before, receipt{l.Container, sharesBefore}))
	l.End(t)
})

var _ = Container.has("L27_UpdatesByThePluginItselfAreAcknowledged", Needs{}, func(t T) {
	n := t.Runtime()
	p := NewPlugin(t, "10", "asks")
	Connect(t, n, p)
	l := NewLife(t, n, "running")
	_, err := p.UpdateContainers([]*api.ContainerUpdate{wants(l.Container, sharesElse, "")})
	require.NoError(t, err)

	t.Promise("L27", "a plugin receives what a container has after an update that it asked for by itself", OnStock(heardNothing), receives(p, 0, receipt{l.Container, sharesElse}))
	l.End(t)
})

// A plugin asks for many updates of a container at a time. runc rejects every second one.
var _ = Container.has("L27_UpdateThatFailsIsInNoAcknowledgement", Needs{}, func(t T) {
	n := t.Runtime()
	p := NewPlugin(t, "10", "asks")
	Connect(t, n, p)
	l := NewLife(t, n, "running")
	holds, fails := wants(l.Container, sharesElse, ""), wants(l.Container, sharesAsked, noSuchCPU)
	for range 10 {
		var all []<-chan error
		for i := range 20 {
			u := []*api.ContainerUpdate{holds}
			if i%2 == 1 {
				u = []*api.ContainerUpdate{fails}
			}
			all = append(all, InBackground(func() error {
				_, _ = p.UpdateContainers(u) // those of fails fail, with or without an error
				return nil
			}))
		}
		for _, asked := range all {
			require.NoError(t, RequireEnds(t, asked, "the update"))
		}
	}

	_, err := p.UpdateContainers([]*api.ContainerUpdate{wants(l.Container, sharesBefore, "")})
	require.NoError(t, err)

	t.Promise("L27", "a plugin that asks for many updates receives what holds last", OnStock(heardNothing), Eventually(func(t require.TestingT) {
		all := received(p)
		require.NotEmpty(t, all)
		assert.Equal(t, receipt{l.Container, sharesBefore}, all[len(all)-1])
	}))
	t.Promise("L27", "and nothing that failed before", KeptOnStock, func(t require.TestingT) {
		assert.NotContains(t, received(p), receipt{l.Container, sharesAsked})
	})
	l.End(t)
})

var _ = Joining.has("L27_UpdatesInSynchronizeAreAcknowledged", Needs{}, func(t T) {
	n := t.Runtime()
	l := NewLife(t, n, "running")
	p := NewPlugin(t, "10", "asks")
	p.On(plugin.Synchronize, func(_ context.Context, call *plugin.Call) error {
		call.Update = []*api.ContainerUpdate{wants(l.Container, sharesElse, "")}
		return nil
	})
	Connect(t, n, p)

	t.Promise("L27", "a plugin hears which updates of its reply to Synchronize held", OnStock(heardNothing), receives(p, 0, receipt{l.Container, sharesElse}))
	l.End(t)
})

// A plugin that asks for no acknowledgement receives none.
var _ = Container.has("L27_PluginHearsNothingUnasked", Needs{}, func(t T) {
	n := t.Runtime()
	p := NewPlugin(t, "10", "asks")
	Connect(t, n, p)
	l := NewLife(t, n, "running")
	u := &api.ContainerUpdate{ContainerId: l.Container}
	u.SetLinuxCPUShares(sharesElse)
	_, err := p.UpdateContainers([]*api.ContainerUpdate{u})
	require.NoError(t, err)
	require.NoError(t, updateOf(n, l.Container)(WithinAMinute(t), sharesAsked, ""))
	l.End(t)

	t.Promise("L27", "a plugin that did not ask for an acknowledgement receives none", KeptOnStock, func(t require.TestingT) {
		assert.Equal(t, []receipt{{l.Container, sharesAsked}}, received(p), "the event after the kubelet's update")
	})
})
