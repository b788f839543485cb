// SPDX-License-Identifier: Apache-2.0

package plugintest

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/stub"
	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/podstate"
)

// careless is a plugin over NRI's own stub that keeps a set of pods, with a fault.
type careless struct {
	fault string

	mu   sync.Mutex // guards held
	held map[string]bool
}

func (c *careless) is(fault string) bool { return c.fault == fault }

func (c *careless) Synchronize(_ context.Context, pods []*api.PodSandbox, _ []*api.Container) ([]*api.ContainerUpdate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	listed := make(map[string]bool)
	for _, pod := range pods {
		switch state := podstate.FromPod(pod); {
		case state == podstate.Stopped && !c.is("takes stopped pods"), state == podstate.Unknown && c.is("ignores unknown pods"):
		case state == podstate.Creating && !c.is("takes pods too early"):
			listed[pod.GetId()] = c.held[pod.GetId()]
		case state == podstate.Ready && c.is("ignores older pods"):
		default:
			listed[pod.GetId()] = true
		}
	}
	if c.is("does not reconcile") {
		maps.Copy(c.held, listed)
		return nil, nil
	}
	c.held = listed
	return nil, nil
}

func (c *careless) RunPodSandbox(_ context.Context, pod *api.PodSandbox) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held[pod.GetId()] && c.is("rejects what it has") {
		return errors.New("it exists")
	}
	c.held[pod.GetId()] = true
	return nil
}

func (c *careless) StopPodSandbox(_ context.Context, pod *api.PodSandbox) error {
	if c.is("frees at the removal") {
		return nil
	}
	return c.free(pod)
}

func (c *careless) RemovePodSandbox(_ context.Context, pod *api.PodSandbox) error {
	if c.is("frees at the stop alone") {
		return nil
	}
	return c.free(pod)
}

func (c *careless) free(pod *api.PodSandbox) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.held[pod.GetId()] && c.is("cannot free twice") {
		return errors.New("it does not exist")
	}
	if c.is("frees late") { // no fault
		time.AfterFunc(20*time.Millisecond, func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			delete(c.held, pod.GetId())
		})
		return nil
	}
	if c.is("frees by the name") {
		maps.DeleteFunc(c.held, func(id string, _ bool) bool { return strings.HasPrefix(id, pod.GetName()) })
	}
	delete(c.held, pod.GetId())
	return nil
}

func (c *careless) run(ctx context.Context, socket string) error {
	for ctx.Err() == nil {
		s, err := stub.New(c, stub.WithPluginName("careless"), stub.WithPluginIdx("10"), stub.WithSocketPath(socket))
		if err != nil {
			return err
		}
		_ = s.Run(ctx)
	}
	if c.is("frees when it ends") {
		c.mu.Lock()
		defer c.mu.Unlock()
		clear(c.held)
	}
	return nil
}

func (c *careless) ids() ([]string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var ids []string
	for id, held := range c.held {
		if held {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// Each fault fails a case, and a plugin without one fails none.
func TestWorstFindsFaults(t *testing.T) {
	for fault, want := range map[string]string{
		"":                        "",
		"frees late":              "",
		"takes stopped pods":      "a pod that was stopped before the plugin joined",
		"takes pods too early":    "a pod that is being created while the plugin joins",
		"ignores older pods":      "pods that are older than the plugin",
		"ignores unknown pods":    "pods that are older than the plugin",
		"does not reconcile":      "a pod is removed while the plugin is not connected",
		"rejects what it has":     "each event comes twice",
		"cannot free twice":       "each event comes twice",
		"frees by the name":       "a second sandbox of a pod, before the first is removed",
		"frees when it ends":      "the plugin restarts",
		"frees at the removal":    "a life",
		"frees at the stop alone": "a removal without its stop",
	} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			var failed []string
			for _, p := range worst {
				c := &careless{fault: fault, held: make(map[string]bool)}
				if err := p.play(t.Context(), Subject{Run: c.run, Held: c.ids}, 100*time.Millisecond); err != nil {
					t.Log(p.name, err)
					failed = append(failed, p.name)
				}
			}
			if want == "" {
				require.Empty(t, failed)
				return
			}
			require.True(t, slices.Contains(failed, want), "failed: %q", failed)
		})
	}
}

// Worst reports what a plugin itself says of its end, does not wait for a plugin that does not end, and
// looks at what the plugin holds at last.
func TestWorstSeesHowAPluginEnds(t *testing.T) {
	lost := errors.New("the database is lost")
	c := &careless{held: make(map[string]bool)}
	late := func(ctx context.Context, socket string) error { return errors.Join(c.run(ctx, socket), lost) }
	short, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	for name, one := range map[string]struct {
		ctx   context.Context
		steps []step
		run   func(ctx context.Context, socket string) error
		want  string
	}{
		"at once":         {t.Context(), []step{up(), join()}, func(context.Context, string) error { return lost }, lost.Error()},
		"with an error":   {t.Context(), []step{up(), join()}, late, lost.Error()},
		"after a failure": {t.Context(), []step{up(), join(), holds("a")}, late, "step 3"},
		"in between":      {t.Context(), []step{up(), join(), leave(), holds()}, late, lost.Error()},
		"not at all": {short, []step{up(), join()}, func(ctx context.Context, socket string) error {
			_ = c.run(ctx, socket)
			<-t.Context().Done()
			return nil
		}, "wait for the plugin to end"},
		"late": {t.Context(), []step{up(), join(), holds()}, func(ctx context.Context, socket string) error {
			err := c.run(ctx, socket)
			c.held["a"] = true
			return err
		}, `holds something for pods ["a"]`},
	} {
		t.Run(name, func(t *testing.T) {
			clear(c.held)
			require.ErrorContains(t, play{name, one.steps}.play(one.ctx, Subject{Run: one.run, Held: c.ids}, 100*time.Millisecond), one.want)
		})
	}
}
