// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/containerd/nri/pkg/api"

	"github.com/hookline-nri/hookline/podstate"
)

// Pods is what a plugin holds for each pod: an address, a device, a folder. It is the plugin's Handler, or
// embedded in it. It calls Take once for each pod that runs, and Free once for what was taken, whatever
// becomes of the plugin and the runtime:
//
//   - Take in RunPodSandbox: an error rejects the pod.
//   - Free in StopPodSandbox, and in RemovePodSandbox if that has failed.
//   - In Synchronize, first Free for all pods that were stopped or removed while the plugin was not
//     connected, then Take for those that run and that the plugin holds nothing for.
//
// All but RunPodSandbox wait no longer than the runtime does: the call goes on in the background, and is
// tried again there if it fails, until it succeeds or the pod has another event.
//
// An event that comes again does nothing, nor does the end of a pod that the plugin holds nothing for.
// While Take or Free of a pod runs, its other events wait. Those of other pods do not: both functions have
// to allow for that, and must return when their context ends.
//
// If Take fails, or the plugin is killed in Take, then it may come again for this pod, and Free comes in
// any case: with the zero value, since none was returned. If Free fails, or the plugin is killed in it, it
// comes again with the same value. So both find what a pod has by the pod's id, where it matters. An id is
// valid as the name of a file. If the value cannot be recorded, it is freed at once, and the pod rejected.
//
// The runtime may send no states (podstate.Unknown). Then Synchronize takes for stopped pods, too, until
// they are removed.
type Pods[T any] struct {
	// Log has a line for each Take and Free that fails and is tried again. Default is slog's.
	Log *slog.Logger

	take    func(context.Context, *api.PodSandbox) (T, error)
	free    func(ctx context.Context, id string, held T) error
	records records[T]
	ctx     context.Context // of OpenPods
	turns   turns
	tasks   sync.Map // a *task for each pod whose Take or Free is tried again, by the pod's id
}

// OpenPods returns the Pods that a folder has the records of. ctx is that of Run, not a timeout: when it
// ends, Pods does nothing more, and another process may use the folder. OpenPods waits until no other
// process uses it. T has to be kept as JSON: OpenPods fails if a record is of another type. It is the
// plugin's to read what its earlier versions have kept.
func OpenPods[T any](ctx context.Context, folder string, take func(context.Context, *api.PodSandbox) (T, error), free func(ctx context.Context, id string, held T) error) (*Pods[T], error) {
	records, err := openRecords[T](ctx, folder)
	if err != nil {
		return nil, err
	}
	p := &Pods[T]{take: take, free: free, records: records, ctx: ctx, turns: turns{busy: make(map[string]chan struct{})}}
	context.AfterFunc(ctx, func() {
		p.turns.end()
		if err := records.close(); err != nil {
			p.log().Error("the records of pods are not closed", "error", err)
		}
	})
	return p, nil
}

// Get returns what the plugin holds for a pod, and whether it holds something.
func (p *Pods[T]) Get(id string) (held T, ok bool, err error) {
	r, _, err := p.records.read(id)
	return r.Value, r.Taken, err
}

// Synchronize frees what pods had that have ended, and then takes for those that run.
func (p *Pods[T]) Synchronize(ctx context.Context, pods []*api.PodSandbox, _ []*api.Container) ([]*api.ContainerUpdate, error) {
	p.dropAll()
	exists, begin, end := make(map[string]bool, len(pods)), make(map[string]work), make(map[string]work)
	for _, pod := range pods {
		switch podstate.FromPod(pod) {
		case podstate.Stopped: // freed below
		case podstate.Creating:
			exists[pod.GetId()] = true // RunPodSandbox follows
		case podstate.Ready, podstate.Unknown:
			exists[pod.GetId()] = true
			begin[pod.GetId()] = func(ctx context.Context) error { return p.begin(ctx, pod) }
		}
	}
	held, err := p.records.list()
	if err != nil {
		return nil, err
	}
	for _, id := range slices.DeleteFunc(held, func(id string) bool { return exists[id] }) {
		end[id] = func(ctx context.Context) error { return p.end(ctx, id) }
	}
	_ = p.do(ctx, 4, end) // a task logs its errors
	_ = p.do(ctx, 4, begin)
	return nil, nil
}

// RunPodSandbox takes what the pod needs.
func (p *Pods[T]) RunPodSandbox(ctx context.Context, pod *api.PodSandbox) error {
	p.drop(pod.GetId())
	if err := p.begin(ctx, pod); err != nil {
		return err
	}
	held, ok, err := p.Get(pod.GetId())
	if err != nil || !ok {
		return err
	}
	return giveHeld(ctx, &held)
}

// StopPodSandbox frees what the pod has.
func (p *Pods[T]) StopPodSandbox(ctx context.Context, pod *api.PodSandbox) error {
	return p.finish(ctx, pod.GetId())
}

// RemovePodSandbox frees what the pod has if its stop has not.
func (p *Pods[T]) RemovePodSandbox(ctx context.Context, pod *api.PodSandbox) error {
	return p.finish(ctx, pod.GetId())
}

// finish frees what a pod has, now or later.
func (p *Pods[T]) finish(ctx context.Context, id string) error {
	return p.do(ctx, 1, map[string]work{id: func(ctx context.Context) error { return p.end(ctx, id) }})
}

func (p *Pods[T]) begin(ctx context.Context, pod *api.PodSandbox) error {
	id := pod.GetId()
	leave, err := p.turns.enter(ctx, id)
	if err != nil {
		return err
	}
	defer leave()
	r, _, err := p.records.read(id)
	if err != nil || r.Taken {
		return err
	}
	// A record comes first: if the plugin is killed in take, the pod is freed later.
	if err := p.records.write(id, record[T]{}); err != nil {
		return err
	}
	value, err := p.take(ctx, pod)
	if err != nil {
		return err
	}
	if err := p.records.write(id, record[T]{Taken: true, Value: value}); err != nil {
		return errors.Join(err, p.giveBack(ctx, id, value))
	}
	return nil
}

// giveBack frees a value, and removes its record. There may be one even of a value that could not be
// recorded: the last step may have failed.
func (p *Pods[T]) giveBack(ctx context.Context, id string, value T) error {
	if err := p.free(ctx, id, value); err != nil {
		return err
	}
	return p.records.remove(id)
}

func (p *Pods[T]) end(ctx context.Context, id string) error {
	leave, err := p.turns.enter(ctx, id)
	if err != nil {
		return err
	}
	defer leave()
	r, exists, err := p.records.read(id)
	if err != nil || !exists {
		return err
	}
	return p.giveBack(ctx, id, r.Value)
}

// do does the work of pods, all at the same time, and returns what was wrong with the first tries. It
// waits for them for a part of the time that the request has left: 4 stands for a quarter. The rest goes
// on.
func (p *Pods[T]) do(ctx context.Context, part time.Duration, all map[string]work) (err error) {
	if deadline, ok := ctx.Deadline(); ok {
		limited, cancel := context.WithTimeout(ctx, time.Until(deadline)*9/10/part) // the answer needs time, too
		defer cancel()
		ctx = limited
	}
	tries := make(map[string]<-chan error, len(all))
	for id, do := range all {
		tries[id] = p.insist(id, do)
	}
	for id, tried := range tries {
		select {
		case e := <-tried:
			err = errors.Join(err, e)
		case <-ctx.Done():
			return errors.Join(err, fmt.Errorf("pod %s: it goes on in the background: %w", id, ctx.Err()))
		}
	}
	return err
}

// insist does work for a pod in the background until it succeeds, or until something else is to be done
// for the pod. It returns the result of the first try.
func (p *Pods[T]) insist(id string, do work) (first <-chan error) {
	ctx, cancel := context.WithCancel(p.ctx)
	t := &task{cancel}
	if earlier, ok := p.tasks.Swap(id, t); ok {
		earlier.(*task).cancel()
	}
	tried := make(chan error, 1)
	go func() {
		defer cancel()
		defer p.tasks.CompareAndDelete(id, t)
		do.untilDone(ctx, tried, func(err error, pause time.Duration) {
			p.log().Error("a pod is not taken or freed yet", "pod", id, "error", err, "next try in", pause)
		})
	}()
	return tried
}

// drop cancels the task of a pod, if it has one.
func (p *Pods[T]) drop(id string) {
	if t, ok := p.tasks.LoadAndDelete(id); ok {
		t.(*task).cancel()
	}
}

func (p *Pods[T]) dropAll() {
	p.tasks.Range(func(id, _ any) bool {
		p.drop(id.(string))
		return true
	})
}

// A task is work that is tried again.
type task struct{ cancel context.CancelFunc }

func (p *Pods[T]) log() *slog.Logger { return cmp.Or(p.Log, slog.Default()) }
