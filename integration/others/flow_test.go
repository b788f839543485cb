// SPDX-License-Identifier: Apache-2.0

package others

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	scripted "github.com/hookline-nri/hookline/testkit/plugin"
	"github.com/hookline-nri/hookline/testkit/wait"
)

func TestPlugins(t *testing.T) {
	all, err := plugins()
	require.NoError(t, err)
	for _, p := range all {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			newLife(ctx, t, p).live(ctx)
		})
	}
}

// live is the life of every plugin.
func (l *life) live(ctx context.Context) {
	before, err := l.run(ctx, "before", false)
	require.NoError(l, err, "without a plugin")
	l.verdict("joins beside a pod that runs", l.join(ctx, 0))
	l.works(ctx)
	gone := l.killed(ctx, before)
	l.withoutRuntime(ctx)
	fifth := l.twice(ctx)
	ended := []error{l.end(ctx, gone)}
	if fifth != nil {
		ended = append(ended, l.end(ctx, fifth))
	}
	l.verdict("pods end after all that", firstOf(ended...))
	require.NoError(l, removeLinks(l.n))
	l.verdict("nothing is left of the pods", l.nothingLeft(ctx))
	if l.plugin.tells {
		l.verdict("receives no event twice", l.received().noneTwice("before", "first", "second", "late", "third", "fourth"))
	}
	l.verdict("does not crash", l.crashed())
}

// works tests normal operation.
func (l *life) works(ctx context.Context) {
	first, err := l.run(ctx, "first", true)
	l.verdict("a pod starts", err)
	l.verdict("a container has its "+l.plugin.gives, l.has(ctx, first))
	l.verdict("a container is updated", l.update(ctx, first))
	l.verdict("a pod ends", l.end(ctx, first))
	l.isBack(ctx, "is back after the end of a pod", first)
	if l.plugin.tells {
		l.verdict("receives the events of a pod in order", l.eventually(ctx, func(t received) error { return t.inOrder("first") }))
	}
}

// killed kills the plugin. Meanwhile two pods that it knew end, and one starts, which is returned.
// Another pod is being created when the plugin joins again.
func (l *life) killed(ctx context.Context, before *pod) (gone *pod) {
	known, err := l.run(ctx, "second", false)
	require.NoError(l, err, "a pod without a request to the plugin")
	late, err := l.config(ctx, "late", true)
	require.NoError(l, err)
	joins := l.joins()
	require.NoError(l, l.first.kill())
	gone, err = l.run(ctx, "disconnected", false)
	l.verdict("a pod starts while the plugin is disconnected", err)
	l.verdict("pods end while the plugin is disconnected", firstOf(l.end(ctx, before), l.end(ctx, known)))
	created, joined := l.joinDuring(ctx, late, joins)
	l.verdict("joins again after its kill", joined)
	l.verdict("a container has its "+l.plugin.gives+" where the plugin joined while the pod was created", l.has(ctx, created))
	if l.plugin.tells {
		l.verdict("knows of a pod that was being created as it joined", l.eventually(ctx, func(t received) error { return t.knows("late") }))
		l.verdict("receives the ends that it missed", l.eventually(ctx, func(t received) error { return t.ended("before", "second") }))
		l.verdict("is synchronized with the pod that started meanwhile", l.eventually(ctx, func(t received) error { return t.synchronized("disconnected") }))
	}
	if created != nil {
		require.NoError(l, l.end(ctx, created))
	}
	return gone
}

// joinDuring lets the plugin join while another, slow one handles RunPodSandbox of a pod. The pod
// is nil if it fails.
func (l *life) joinDuring(ctx context.Context, config *runtime.PodSandboxConfig, joins int) (created *pod, err error) {
	gate := scripted.NewGate()
	slow := scripted.New("20", "slow")
	slow.On(scripted.RunPodSandbox, gate.Hold)
	require.NoError(l, slow.Connect(ctx, l.n.NRISocket()))
	defer slow.Crash()
	defer gate.Release()
	done := make(chan struct{})
	go func() {
		defer close(done)
		var err error
		if created, err = l.create(ctx, config); err != nil {
			l.Logf("create a pod while the plugin joins: %v", err)
		}
	}()
	select {
	case <-gate.Entered():
	case <-ctx.Done():
		require.NoError(l, ctx.Err(), "wait for the pod to be created")
	}
	require.NoError(l, l.supervise())
	early, cancel := context.WithTimeout(ctx, soon/2) // the other plugin answers then in any case
	defer cancel()
	_ = l.join(early, joins)
	gate.Release()
	<-done
	return created, l.join(ctx, joins)
}

// withoutRuntime kills containerd. One pod dies while it is down, another is ended afterwards.
func (l *life) withoutRuntime(ctx context.Context) {
	third, err := l.run(ctx, "third", true)
	l.verdict("a container has its "+l.plugin.gives+" after a kill of the plugin", firstOf(err, l.has(ctx, third)))
	fourth, err := l.run(ctx, "fourth", true)
	require.NoError(l, err)
	pids, err := l.pids(ctx, third)
	require.NoError(l, err)
	joins := l.joins()
	require.NoError(l, l.n.Kill(ctx))
	require.NoError(l, die(ctx, pids))
	require.NoError(l, l.n.Boot(ctx))
	l.verdict("joins again after a kill of the runtime", l.join(ctx, joins))
	l.verdict("pods end after a kill of the runtime", firstOf(l.end(ctx, third), l.end(ctx, fourth)))
	l.isBack(ctx, "is back from a pod that died while the runtime was down", third)
	l.isBack(ctx, "is back from a pod that ended after a kill of the runtime", fourth)
	if l.plugin.tells {
		l.verdict("receives the end of a pod that died while the runtime was down", l.eventually(ctx, func(t received) error { return t.ended("third") }))
		l.verdict("receives the end of a pod that ended after a kill of the runtime", l.eventually(ctx, func(t received) error { return t.ended("fourth") }))
	}
}

// twice starts a second instance manually, and kills it. It returns a pod that was run meanwhile.
func (l *life) twice(ctx context.Context) (fifth *pod) {
	joins := l.joins()
	another, err := l.start(second)
	require.NoError(l, err)
	// It may end instead of joining, if it finds the first.
	require.NoError(l, eventually(ctx, "a second instance to join or to end", func() error {
		if another.runs() && l.joins() <= joins {
			return errors.New("it runs and did not join")
		}
		return nil
	}))
	fifth, err = l.run(ctx, "fifth", true)
	l.verdict("a container has its "+l.plugin.gives+" beside a second instance", firstOf(err, l.has(ctx, fifth)))
	require.NoError(l, another.kill())
	l.verdict("a container has its "+l.plugin.gives+" after the kill of the second instance", l.worksAgain(ctx))
	return fifth
}

// worksAgain runs pods until one has what the plugin gives: the plugin may have to start and join
// first. No pod may fail meanwhile.
func (l *life) worksAgain(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*soon)
	defer cancel()
	return wait.Until(ctx, "the first instance to work again", func(ctx context.Context) error {
		if err := l.supervise(); err != nil {
			return fmt.Errorf("%w: %w", wait.ErrPermanent, err)
		}
		sixth, err := l.run(ctx, "sixth", true)
		if err != nil {
			return fmt.Errorf("%w: %w", wait.ErrPermanent, err)
		}
		has := l.has(ctx, sixth)
		if err := l.end(ctx, sixth); err != nil {
			return fmt.Errorf("%w: %w", wait.ErrPermanent, err)
		}
		return has
	})
}

// isBack checks that the node has back what was given to a pod, if the plugin returns it.
func (l *life) isBack(ctx context.Context, sentence string, p *pod) {
	if l.plugin.returned == nil {
		return
	}
	err := errNoPod
	if p != nil {
		err = eventually(ctx, l.plugin.gives+" of pod "+p.name, func() error { return l.plugin.returned(l.n, p.name) })
	}
	l.verdict(l.plugin.gives+" "+sentence, err)
}

// firstOf returns the first error.
func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
