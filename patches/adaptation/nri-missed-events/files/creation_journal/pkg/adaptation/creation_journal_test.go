// SPDX-License-Identifier: Apache-2.0

package adaptation_test

import (
	"context"
	"iter"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	nri "github.com/containerd/nri/pkg/adaptation"
	"github.com/containerd/nri/pkg/api"
)

// noted is a journal that survives a kill of the runtime.
type noted struct {
	mu  sync.Mutex // guards all
	all [][3]string
}

func (n *noted) Sending(plugin, pod, container string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.all = append(n.all, [3]string{plugin, pod, container})
}

func (n *noted) Cut() iter.Seq2[string, [2]string] {
	return func(yield func(string, [2]string) bool) {
		n.mu.Lock()
		all := slices.Clone(n.all)
		n.mu.Unlock()
		for _, of := range all {
			if !yield(of[0], [2]string{of[1], of[2]}) {
				return
			}
		}
	}
}

// copied is a copy of a store, as a kill of the runtime leaves it.
func (k *kept) copied() *kept {
	k.mu.Lock()
	defer k.mu.Unlock()
	c := &kept{names: make(map[string]*keptName)}
	for name, n := range k.names {
		of := *n
		of.known, of.missed = maps.Clone(n.known), slices.Clone(n.missed)
		c.names[name] = &of
	}
	return c
}

// journaled starts a runtime that notes creations, with the store of the one before it.
func (o *remembering) journaled(journal *noted) {
	o.t.Helper()
	r, err := nri.New(defaultRuntimeName, defaultRuntimeVersion, o.list, o.update,
		nri.WithPluginPath(filepath.Join(o.dir, "plugins")), nri.WithSocketPath(filepath.Join(o.dir, "nri.sock")),
		nri.WithMissedEvents(o.store, o.over), nri.WithCreationJournal(journal))
	require.NoError(o.t, err)
	o.Adaptation = r
	require.NoError(o.t, r.Start())
}

// A plugin receives the end of a container that it was asked for, if the runtime does not
// list the container after a restart.
func TestEndOfAContainerThatWasCutInItsCreation(t *testing.T) {
	o, journal := newRemembering(t), &noted{}
	o.Stop()
	o.journaled(journal)
	pod := &api.PodSandbox{Id: "pod0", Name: "pod0"}
	o.lists([]*api.PodSandbox{pod}, nil, nil)
	p, _ := o.comes()
	_, err := o.CreateContainer(context.Background(), &api.CreateContainerRequest{Pod: pod, Container: &api.Container{Id: "ctr0", PodSandboxId: "pod0"}})
	require.NoError(t, err)
	require.Equal(t, [][3]string{{"00-hears", "pod0", "ctr0"}}, journal.all)
	require.Empty(t, p.heard())

	killed := o.store.copied() // as the plugin was connected
	o.Stop()
	o.store = killed
	o.journaled(journal)
	p, _ = o.comes()
	o.requireHeard(p, "StopContainer ctr0", "RemoveContainer ctr0")
}
