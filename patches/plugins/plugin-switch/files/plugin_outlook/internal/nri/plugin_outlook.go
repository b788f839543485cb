// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/containerd/errdefs"

	"github.com/containerd/containerd/v2/internal/nri/operator"
)

// mostShown is how many missed events an outlook has.
const mostShown = 1000

// Plugins returns the plugins that are connected, disconnected or turned off, in the order of
// their indices.
func (l *local) Plugins() ([]operator.Plugin, error) {
	if !l.IsEnabled() {
		return nil, errNRIDisabled
	}
	s := l.Status()
	var all []operator.Plugin
	for _, p := range s.Plugins {
		state := "connected"
		switch {
		case p.TakesOver:
			state = "waits for another"
		case !p.Synchronized:
			state = "registering"
		case p.Overdue:
			state = "overdue"
		}
		all = append(all, operator.Plugin{
			Name: p.Index + "-" + p.Name, State: state, Since: p.Since,
			Pods: p.Pods, Containers: p.Containers, Events: p.QueueLength,
		})
	}
	for _, p := range s.DisconnectedPlugins {
		all = append(all, operator.Plugin{Name: p.Name, State: "disconnected", Since: p.Since, Events: p.Missed})
	}
	for _, p := range s.PluginsOff {
		off := operator.Plugin{Name: p.Name, State: "off", Since: p.Since}
		i := slices.IndexFunc(all, func(o operator.Plugin) bool { return o.Name == p.Name && o.State == "disconnected" })
		if i >= 0 {
			off.Events = all[i].Events
			all = slices.Delete(all, i, i+1)
		}
		all = append(all, off)
	}
	slices.SortStableFunc(all, func(a, b operator.Plugin) int { return cmp.Compare(a.Name, b.Name) })
	return all, nil
}

// OutlookOfPlugin returns what a plugin receives when it connects, by its index and name.
func (l *local) OutlookOfPlugin(ctx context.Context, name string) (operator.Outlook, error) {
	all, err := l.Plugins()
	if err != nil {
		return operator.Outlook{}, err
	}
	i := slices.IndexFunc(all, func(p operator.Plugin) bool { return p.Name == name })
	if i < 0 {
		return operator.Outlook{}, fmt.Errorf("plugin %.128q is unknown: %w", name, errdefs.ErrNotFound)
	}
	x, err := l.nri.Expect(ctx, name, mostShown)
	if err != nil {
		return operator.Outlook{}, err
	}
	o := operator.Outlook{
		Plugin: all[i],
		Pods:   x.Pods, NewPods: x.NewPods,
		Containers: x.Containers, NewContainers: x.NewContainers,
		Missed: x.Missed,
	}
	for _, e := range x.Ends {
		o.Oldest = append(o.Oldest, operator.MissedEvent{
			Event: e.Event, Namespace: e.Pod.GetNamespace(), Pod: cmp.Or(e.Pod.GetName(), e.Pod.GetId()),
			Container: cmp.Or(e.Container.GetName(), e.Container.GetId()),
		})
	}
	return o, nil
}
