// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/hookline-nri/hookline/internal/nri/lifecycle"
)

// join brings in a plugin: from now on it takes part in all events, and it is
// told of all pods and containers that there are. It returns when the plugin
// was told; what it asks for in return is done beside that. A plugin that fails
// to join is closed.
func (r *Adaptation) join(ctx context.Context, p *plugin) error {
	r.enlist(p)
	tell := func(ctx context.Context, snapshot lifecycle.Snapshot) error {
		pods, ctrs := objects(snapshot)
		updates, err := p.synchronize(ctx, pods, ctrs)
		r.change(p, "Synchronize", updates)
		return err
	}
	if err := r.engine.Join(ctx, connection{p}, tell); err != nil {
		r.delist(p) // an engine that is closed never let it in
		_ = p.stop()
		return err
	}
	return nil
}

// list has the runtime list what there is, by a call of its SyncFn. The callback
// returns at once and without updates, so that a lock which the runtime holds
// for that time is held for no plugin. SyncFn goes on if ctx ends: it may wait for
// such a lock. Its error is one of the list.
func (r *Adaptation) list(ctx context.Context) (lifecycle.Snapshot, error) {
	var called atomic.Bool
	var snapshot lifecycle.Snapshot
	ended := make(chan error, 1)
	go func() {
		ended <- r.syncFn(noCtx, func(_ context.Context, pods []*PodSandbox, ctrs []*Container) ([]*ContainerUpdate, error) {
			if called.Swap(true) {
				return nil, errors.New("what there is was listed before in this call")
			}
			snapshot = snapshotOf(pods, ctrs)
			return nil, nil
		})
	}()
	var err error
	select {
	case err = <-ended:
	case <-ctx.Done():
		return lifecycle.Snapshot{}, ctx.Err()
	}
	if err == nil && !called.Load() {
		err = errors.New("it listed nothing")
	}
	if err != nil {
		return lifecycle.Snapshot{}, fmt.Errorf("runtime failed to synchronize: %w", err)
	}
	return snapshot, nil
}

func snapshotOf(pods []*PodSandbox, ctrs []*Container) lifecycle.Snapshot {
	var s lifecycle.Snapshot
	for _, pod := range pods {
		s.Pods = append(s.Pods, lifecycle.Object{Pod: pod.GetId(), Value: pod})
	}
	for _, ctr := range ctrs {
		s.Containers = append(s.Containers, lifecycle.Object{Pod: ctr.GetPodSandboxId(), Container: ctr.GetId(), Value: ctr})
	}
	return s
}

// objects are the pods and containers to tell of.
func objects(snapshot lifecycle.Snapshot) (pods []*PodSandbox, ctrs []*Container) {
	for _, o := range snapshot.Pods {
		if pod, ok := o.Value.(*PodSandbox); ok {
			pods = append(pods, pod)
		}
	}
	for _, o := range snapshot.Containers {
		if ctr, ok := o.Value.(*Container); ok {
			ctrs = append(ctrs, ctr)
		}
	}
	return pods, ctrs
}
