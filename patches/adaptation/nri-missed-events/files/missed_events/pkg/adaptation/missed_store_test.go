// SPDX-License-Identifier: Apache-2.0

package adaptation_test

import (
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	nri "github.com/containerd/nri/pkg/adaptation"
)

// kept is a store of missed events that outlives an adaptation.
type kept struct {
	mu    sync.Mutex // guards what follows
	names map[string]*keptName
	syncs int
}

type keptName struct {
	wants  []string
	left   time.Time
	known  map[[2]string]bool
	missed []keptEnd
}

type keptEnd = struct {
	Kind    string
	Object  [2]string
	Request string
}

type keptPresence = struct {
	Wants        []string
	Disconnected time.Time
	Missed       int
}

var _ nri.MissedEvents = (*kept)(nil)

func (k *kept) of(name string) *keptName {
	if k.names == nil {
		k.names = make(map[string]*keptName)
	}
	if k.names[name] == nil {
		k.names[name] = &keptName{known: make(map[[2]string]bool)}
	}
	return k.names[name]
}

func (k *kept) Joined(name string, wants []string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	n := k.of(name)
	n.wants, n.left = wants, time.Time{}
	clear(n.known)
}

func (k *kept) Left(name string, known iter.Seq2[[2]string, bool]) {
	k.mu.Lock()
	defer k.mu.Unlock()
	n := k.of(name)
	n.left, n.known = time.Now(), maps.Collect(known)
}

func (k *kept) Miss(name, kind string, object [2]string, request string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	n := k.names[name]
	if n == nil {
		return false
	}
	is := func(e keptEnd) bool { return e.Kind == kind && e.Object == object }
	if !slices.ContainsFunc(n.missed, is) {
		n.missed = append(n.missed, keptEnd{kind, object, request})
	}
	return true
}

func (k *kept) Delivered(name, kind string, object [2]string) int {
	k.mu.Lock()
	defer k.mu.Unlock()
	n := k.of(name)
	n.missed = slices.DeleteFunc(n.missed, func(e keptEnd) bool { return e.Kind == kind && e.Object == object })
	return len(n.missed)
}

func (k *kept) Forget(name string) int {
	k.mu.Lock()
	defer k.mu.Unlock()
	missed := len(k.of(name).missed)
	delete(k.names, name)
	return missed
}

func (k *kept) Names() iter.Seq2[string, keptPresence] {
	k.mu.Lock()
	defer k.mu.Unlock()
	all := make(map[string]keptPresence)
	for name, n := range k.names {
		all[name] = keptPresence{n.wants, n.left, len(n.missed)}
	}
	return maps.All(all)
}

func (k *kept) Known(name string) iter.Seq2[[2]string, bool] {
	k.mu.Lock()
	defer k.mu.Unlock()
	return maps.All(maps.Clone(k.of(name).known))
}

func (k *kept) Missed(name string) iter.Seq[keptEnd] {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Values(slices.Clone(k.of(name).missed))
}

func (k *kept) Sync() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.syncs++
}

func (k *kept) synced() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.syncs
}
