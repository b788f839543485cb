// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/hookline-nri/hookline/internal/nri/lifecycle"
)

// errRuntimeSync says that the runtime failed to synchronize a plugin, not the
// plugin.
var errRuntimeSync = errors.New("runtime failed to synchronize")

// join brings in a plugin: from now on it takes part in all events, and it is
// told of all pods and containers that there are. It returns when the plugin
// was told and what it asked for in return was done. A plugin that fails to
// join is closed.
func (r *Adaptation) join(ctx context.Context, p *plugin) error {
	r.enlist(p)
	s := newSynchronization()
	defer close(s.over)

	list := func(bound context.Context) (lifecycle.Snapshot, error) {
		go s.run(ctx, r.syncFn) // it goes on after the bound, to do what the plugin asks for
		return s.list(bound)
	}
	tell := func(ctx context.Context, snapshot lifecycle.Snapshot) (err error) {
		pods, ctrs := objects(snapshot)
		s.updates, err = p.synchronize(ctx, pods, ctrs)
		return err
	}
	if err := r.engine.Join(ctx, connection{p}, list, tell); err != nil {
		r.delist(p) // an engine that is closed never let it in
		_ = p.stop()
		return err
	}
	if err := s.finish(); err != nil {
		p.close()
		return err
	}
	return nil
}

// synchronization is one call of the runtime's SyncFn, cut in two: up to its
// callback it lists what there is, after it it does what the plugin asked for.
type synchronization struct {
	called  atomic.Bool // whether SyncFn has called back
	pods    []*PodSandbox
	ctrs    []*Container
	updates []*ContainerUpdate

	listed chan struct{} // closed by the callback
	told   chan struct{} // closed when updates are there
	over   chan struct{} // closed when nobody wants it any more
	result chan error    // what SyncFn returned
}

func newSynchronization() *synchronization {
	return &synchronization{
		listed: make(chan struct{}),
		told:   make(chan struct{}),
		over:   make(chan struct{}),
		result: make(chan error, 1),
	}
}

// run calls the runtime. It ends with the synchronization, or with over.
func (s *synchronization) run(ctx context.Context, sync SyncFn) {
	s.result <- sync(ctx, func(_ context.Context, pods []*PodSandbox, ctrs []*Container) ([]*ContainerUpdate, error) {
		if s.called.Swap(true) {
			return nil, errors.New("a plugin is synchronized once in each call")
		}
		s.pods, s.ctrs = pods, ctrs
		close(s.listed)
		select {
		case <-s.told:
			return s.updates, nil
		case <-s.over:
			return nil, errors.New("the plugin was not synchronized")
		}
	})
}

// list waits until the runtime has listed what there is.
func (s *synchronization) list(ctx context.Context) (lifecycle.Snapshot, error) {
	select {
	case <-s.listed:
	case <-ctx.Done():
		return lifecycle.Snapshot{}, fmt.Errorf("%w: waiting for its list: %w", errRuntimeSync, ctx.Err())
	case err := <-s.result:
		if err == nil {
			err = errors.New("it listed nothing")
		}
		return lifecycle.Snapshot{}, fmt.Errorf("%w: %w", errRuntimeSync, err)
	}
	var snapshot lifecycle.Snapshot
	for _, pod := range s.pods {
		snapshot.Pods = append(snapshot.Pods, lifecycle.Object{Pod: pod.GetId(), Value: pod})
	}
	for _, ctr := range s.ctrs {
		snapshot.Containers = append(snapshot.Containers, lifecycle.Object{Pod: ctr.GetPodSandboxId(), Container: ctr.GetId(), Value: ctr})
	}
	return snapshot, nil
}

// finish lets the runtime do what the plugin asked for.
func (s *synchronization) finish() error {
	close(s.told)
	if err := <-s.result; err != nil {
		return fmt.Errorf("%w: %w", errRuntimeSync, err)
	}
	return nil
}

// objects are the pods and containers to tell of. A container that the runtime
// does not list yet is in the form of its creation.
func objects(snapshot lifecycle.Snapshot) (pods []*PodSandbox, ctrs []*Container) {
	for _, o := range snapshot.Pods {
		if pod, ok := o.Value.(*PodSandbox); ok {
			pods = append(pods, pod)
		}
	}
	for _, o := range snapshot.Containers {
		switch value := o.Value.(type) {
		case *Container:
			ctrs = append(ctrs, value)
		case *creation:
			ctrs = append(ctrs, value.request.GetContainer())
		}
	}
	return pods, ctrs
}
