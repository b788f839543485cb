// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/hookline-nri/hookline/internal/nri/lifecycle/ledger"
)

// What the runtime of a world does for its kubelet, like the calls of CRI: each function is a
// call, on its own goroutine. The test sets the times that it takes and the point where it fails.

// A course is how one operation goes.
type course struct {
	before, after time.Duration // times that it takes before and after it asks the plugins
	fails         bool          // after that
	idle          bool          // of a container: whether it is never started
	early         bool          // of a pod: whether it waits for the required plugins before anything is made
	requires      []string      // plugins that the created object requires
}

// runPod is RunPodSandbox.
func (p *process) runPod(ctx context.Context, id string, c course) {
	if p.w.runtime == moby {
		p.create(ctx, id, c)
		return
	}
	if !p.do(func() { p.transient[id] = true }) {
		return
	}
	p.needs(ledger.ID{Pod: id}, c.requires)
	var err error
	if c.early {
		ctx, err = p.await(ctx, id)
	}
	if err == nil {
		err = pause(ctx, c.before) // CNI ADD, the sandbox process
	}
	if err == nil {
		err = p.ask(ctx, "RunPodSandbox:"+id)
		if err == nil {
			// The hook is the last step that can fail (L5).
			p.do(func() {
				p.w.pods[id] = &simPod{witnesses: p.w.received(id, "")}
			})
			p.do(func() { delete(p.transient, id) })
			return
		}
	}
	p.end(ctx, "StopPodSandbox:"+id, "RemovePodSandbox:"+id)
	p.do(func() { delete(p.transient, id) })
}

// updatePod is UpdatePodSandboxResources.
func (p *process) updatePod(ctx context.Context, id string, _ course) {
	if p.w.runtime == moby {
		return
	}
	if p.ask(ctx, "UpdatePodSandbox:"+id) == nil {
		p.ask(ctx, "PostUpdatePodSandbox:"+id)
	}
}

// createContainer is CreateContainer, followed by StartContainer.
func (p *process) createContainer(ctx context.Context, pod, id string, c course) {
	if p.w.runtime == moby {
		p.create(ctx, id, c)
		return
	}
	ready := false
	p.do(func() {
		sb := p.w.pods[pod]
		ready = sb != nil && !sb.stopping
	})
	if !ready {
		return
	}
	p.needs(ledger.ID{Pod: pod, Container: id}, c.requires)
	pause(p.ctx, c.before) // the image, the snapshot
	err := p.ask(ctx, "CreateContainer:"+pod+"/"+id)
	if err == nil {
		p.do(func() { p.w.agreed[id] = time.Now() })
		err = p.validate(ctx, pod, id)
	}
	if err == nil {
		err = pause(ctx, c.after)
	}
	created := false
	if err == nil && !c.fails {
		p.do(func() {
			if sb := p.w.pods[pod]; sb != nil && !sb.stopping {
				created = true
				p.w.containers[id], p.w.made[id] = &simContainer{pod: pod}, true
			}
		})
	}
	if !created && p.w.runtime == crio {
		return
	}
	if !created {
		p.end(ctx, "StopContainer:"+pod+"/"+id, "RemoveContainer:"+pod+"/"+id)
		return
	}
	p.ask(ctx, "PostCreateContainer:"+pod+"/"+id)
	p.do(func() {
		// The runtime does not wait for the turn of a plugin when the caller has canceled.
		if c := p.w.containers[id]; c != nil && !c.exited && !p.w.pods[pod].stopping && ctx.Err() == nil {
			p.w.received(pod, id)
		}
	})
	if c.idle {
		return
	}
	if p.ask(ctx, "StartContainer:"+pod+"/"+id) != nil {
		p.stopContainer(ctx, id, course{})
		return
	}
	started := false
	p.do(func() {
		if c := p.w.containers[id]; c != nil && !c.exited {
			c.running, started = true, true
		}
	})
	if started {
		p.ask(ctx, "PostStartContainer:"+pod+"/"+id)
	}
}

// validate has all adjustments of a container validated, in harsh worlds.
func (p *process) validate(ctx context.Context, pod, id string) error {
	if p.w.harsh == nil {
		return nil
	}
	return p.ask(ctx, "ValidateContainerAdjustment:"+pod+"/"+id)
}

// stopContainer is StopContainer with its grace period, or the exit of the
// container by itself.
func (p *process) stopContainer(ctx context.Context, id string, c course) {
	if p.w.runtime == moby || pause(ctx, c.before) != nil {
		return
	}
	var pod string
	p.do(func() {
		if c := p.w.containers[id]; c != nil {
			pod, c.exited = c.pod, true
		}
	})
	if pod != "" {
		p.end(ctx, "StopContainer:"+pod+"/"+id)
	}
}

// removeContainer is RemoveContainer.
func (p *process) removeContainer(ctx context.Context, id string, c course) {
	if p.w.runtime == moby {
		p.drop(id)
		return
	}
	var pod string
	p.do(func() {
		if c := p.w.containers[id]; c != nil && (c.exited || !c.running) {
			pod, c.removed = c.pod, true
		}
	})
	if pod == "" {
		return
	}
	p.end(ctx, "RemoveContainer:"+pod+"/"+id)
	pause(p.ctx, c.after)
	if !c.fails {
		p.do(func() { delete(p.w.containers, id) })
	}
}

// containersOf marks the containers of a pod as exited and returns their ids.
func (p *process) containersOf(pod string) (ids []string, ok bool) {
	p.do(func() {
		sb := p.w.pods[pod]
		if sb == nil {
			return
		}
		ok, sb.stopping = true, true
		for _, id := range slices.Sorted(maps.Keys(p.w.containers)) {
			if c := p.w.containers[id]; c.pod == pod {
				c.exited = true
				ids = append(ids, id)
			}
		}
	})
	return ids, ok
}

// stopPod is StopPodSandbox.
func (p *process) stopPod(ctx context.Context, pod string, c course) {
	if p.w.runtime == moby {
		return
	}
	_ = p.stop(ctx, pod, c)
}

func (p *process) stop(ctx context.Context, pod string, c course) error {
	containers, ok := p.containersOf(pod)
	if !ok {
		return nil
	}
	var ends []string
	for _, id := range containers {
		ends = append(ends, "StopContainer:"+pod+"/"+id)
	}
	err := p.end(ctx, append(ends, "StopPodSandbox:"+pod)...)
	p.witnessed(event("StopPodSandbox:" + pod))
	if err != nil && p.w.runtime == crio {
		return err
	}
	if pause(p.ctx, c.after) != nil || c.fails { // CNI DEL
		return nil
	}
	p.do(func() {
		if sb := p.w.pods[pod]; sb != nil {
			sb.stopped = true
		}
	})
	return nil
}

// removePod is RemovePodSandbox.
func (p *process) removePod(ctx context.Context, pod string, c course) {
	if p.w.runtime == moby {
		p.drop(pod)
		return
	}
	if p.stop(ctx, pod, course{}) != nil {
		return
	}
	containers, ok := p.containersOf(pod)
	if !ok {
		return
	}
	p.do(func() {
		if sb := p.w.pods[pod]; sb != nil {
			sb.removed = true
		}
	})
	var ends []string
	for _, id := range containers {
		ends = append(ends, "RemoveContainer:"+pod+"/"+id)
	}
	if p.w.runtime == crio {
		for _, end := range ends {
			_ = p.end(ctx, end)
		}
		p.forget(pod)
		ends = nil
	}
	_ = p.end(ctx, append(ends, "RemovePodSandbox:"+pod)...)
	p.witnessed(event("RemovePodSandbox:" + pod))
	pause(p.ctx, c.after)
	if !c.fails {
		p.forget(pod)
	}
}

// forget takes a pod out of the runtime's store, with its containers.
func (p *process) forget(pod string) {
	p.do(func() {
		delete(p.w.pods, pod)
		for id, c := range p.w.containers {
			if c.pod == pod {
				delete(p.w.containers, id)
			}
		}
	})
}
