// SPDX-License-Identifier: Apache-2.0

package adaptation_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	nri "github.com/containerd/nri/pkg/adaptation"
	"github.com/containerd/nri/pkg/api"
)

// replaced records why plugins left.
type replaced struct {
	requiredRecord
	lock    sync.Mutex // guards what follows
	reasons []string
}

func (*replaced) RecordDelivery(string, string, string, time.Duration, time.Duration, bool) {}
func (*replaced) RecordLateAnswer(string, string, time.Duration)                            {}
func (*replaced) RecordJoin(string, time.Duration, int, int)                                {}

func (r *replaced) RecordLeave(plugin, reason string) {
	r.lock.Lock()
	defer r.lock.Unlock()
	r.reasons = append(r.reasons, plugin+" "+reason)
}

func (r *replaced) left() []string {
	r.lock.Lock()
	defer r.lock.Unlock()
	return r.reasons
}

// handing starts an adaptation with settings for a plugin "one".
func handing(t *testing.T, dir string, s nri.PluginSettings) (*nri.Adaptation, *replaced) {
	t.Helper()
	record := &replaced{}
	return withSettings(t, dir, "one", s, record), record
}

func run(t *testing.T, r *nri.Adaptation, id string) {
	t.Helper()
	require.NoError(t, r.RunPodSandbox(context.Background(), &api.RunPodSandboxRequest{Pod: &api.PodSandbox{Id: id}}))
}

// A plugin that registers again takes over, and its first connection is closed.
func TestHandOver(t *testing.T) {
	dir := t.TempDir()
	r, record := handing(t, dir, nri.PluginSettings{})
	first, next := &mockPlugin{idx: "10", name: "one"}, &mockPlugin{idx: "10", name: "one"}
	started(t, dir, first)
	require.NoError(t, first.Wait(PluginSynchronized, time.After(soon)))
	run(t, r, "p1")
	started(t, dir, next)
	require.NoError(t, first.Wait(PluginDisconnected, time.After(soon)))
	run(t, r, "p2")
	require.NoError(t, next.Wait(PodSandboxEvent(&api.PodSandbox{Id: "p2"}, RunPodSandbox), time.After(soon)))
	require.False(t, first.EventQ().Has(PodSandboxEvent(&api.PodSandbox{Id: "p2"}, RunPodSandbox)))
	require.Len(t, r.PluginStatus(), 1)
	require.Eventually(t, func() bool { return len(record.left()) > 0 }, soon, time.Millisecond)
	require.Equal(t, []string{"10-one replaced"}, record.left())
}

// With AllowDuplicates, and with another index, both plugins receive the pod.
func TestNoHandOver(t *testing.T) {
	for _, c := range []struct {
		name     string
		settings nri.PluginSettings
		index    string
	}{
		{"duplicates", nri.PluginSettings{AllowDuplicates: true}, "10"},
		{"another index", nri.PluginSettings{}, "20"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			r, _ := handing(t, dir, c.settings)
			first, next := &mockPlugin{idx: "10", name: "one"}, &mockPlugin{idx: c.index, name: "one"}
			for _, p := range []*mockPlugin{first, next} {
				started(t, dir, p)
				require.NoError(t, p.Wait(PluginSynchronized, time.After(soon)))
			}
			run(t, r, "p1")
			for _, p := range []*mockPlugin{first, next} {
				require.NoError(t, p.Wait(PodSandboxEvent(&api.PodSandbox{Id: "p1"}, RunPodSandbox), time.After(soon)))
			}
		})
	}
}
