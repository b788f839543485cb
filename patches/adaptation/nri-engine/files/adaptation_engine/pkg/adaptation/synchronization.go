// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/hookline-nri/hookline/internal/nri/lifecycle"
)

// join lets a plugin take part in all events from now on, and synchronizes it with all
// existing pods and containers. It returns when the plugin has answered Synchronize. The
// updates of that answer are applied in the background. A plugin that fails to join is
// closed.
func (r *Adaptation) join(ctx context.Context, p *plugin) error {
	r.enlist(p)
	synchronize := func(ctx context.Context, snapshot lifecycle.Snapshot) error {
		pods, ctrs := objects(snapshot)
		updates, err := p.synchronize(ctx, pods, ctrs)
		r.change(p, "Synchronize", updates)
		return err
	}
	if err := r.engine.Join(ctx, connection{p}, synchronize); err != nil {
		r.dismiss(p) // an engine that is closed never let it in
		return err
	}
	return nil
}

// list has the runtime list its pods and containers, by a call of its SyncFn. The
// callback returns at once and without updates, so that a lock that SyncFn holds waits
// for no plugin. SyncFn goes on if ctx ends: it may wait for such a lock.
func (r *Adaptation) list(ctx context.Context) (lifecycle.Snapshot, error) {
	var called atomic.Bool
	var snapshot lifecycle.Snapshot
	ended := make(chan error, 1)
	go func() {
		ended <- r.syncFn(noCtx, func(_ context.Context, pods []*PodSandbox, ctrs []*Container) ([]*ContainerUpdate, error) {
			if called.Swap(true) {
				return nil, errors.New("SyncFn called back twice")
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
		err = errors.New("SyncFn did not call back")
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

// objects are the pods and containers of a snapshot.
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
