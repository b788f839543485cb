// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"maps"
	"slices"
	"sync"

	sstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
	"github.com/containerd/containerd/v2/internal/nri"
)

// creations are the pods that are being created and not in the sandbox store,
// or not for long, as they were when they were last entered.
type creations struct {
	mu     sync.Mutex // guards what follows
	pods   map[string]sstore.Sandbox
	undone map[string]bool // those of pods whose end was told
}

func (c *creations) enter(pod sstore.Sandbox) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pods == nil {
		c.pods = make(map[string]sstore.Sandbox)
		c.undone = make(map[string]bool)
	}
	c.pods[pod.ID] = pod
}

func (c *creations) leave(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.pods, id)
	delete(c.undone, id)
}

// undo returns true the first time that a creation is to be undone. Its end is
// told once, by the innermost of the deferred functions that see it fail:
// plugins that hang would be waited for by each.
func (c *creations) undo(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, creating := c.pods[id]; !creating {
		return true
	}
	first := !c.undone[id]
	c.undone[id] = true
	return first
}

func (c *creations) list() []sstore.Sandbox {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Collect(maps.Values(c.pods))
}

// CreatingPodSandbox enters a pod that is being created, or what is new of it.
// Plugins that join are told of it, until done is called.
func (a *API) CreatingPodSandbox(pod sstore.Sandbox) (done func()) {
	if a.IsDisabled() {
		return func() {}
	}
	a.creating.enter(pod)
	return func() { a.creating.leave(pod.ID) }
}

// ListPodSandboxes lists all pods that plugins may have to do with. Those in
// creation are read first: one that moves to the store meanwhile is in both,
// and never in neither.
func (a *API) ListPodSandboxes() []nri.PodSandbox {
	creating := a.creating.list()
	pods := []nri.PodSandbox{}
	there := map[string]bool{}
	for _, pod := range a.cri.SandboxStore().List() {
		if pod.Status.Get().State != sstore.StateUnknown {
			there[pod.ID] = true
			pods = append(pods, a.nriPodSandbox(&pod))
		}
	}
	for _, pod := range creating {
		if !there[pod.ID] {
			pods = append(pods, a.nriPodSandbox(&pod))
		}
	}
	return pods
}
