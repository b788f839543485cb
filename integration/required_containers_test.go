// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// Containers alone require the plugin. It comes late, is killed at one of several that
// wait for it, and comes back: pods come up without it, containers do not, but for those
// of an exempt namespace.
func TestL20_ContainersWaitForARequiredPlugin(t *testing.T) {
	t.Parallel()
	const containers = 4
	n := startNode(t, withNeeds(fixture.Patient), operator(pluginSetting("must", "required_for = ['containers']\nexempt_namespaces = ['exempt']\nwait = '40s'")))
	ctx, c := withinAMinute(t), n.CRI()
	pod := podIn(n, "default", "pod", nil)
	id, err := c.RunPod(ctx, pod)
	require.NoError(t, err)
	create := func(name string) <-chan []creationOf {
		done := make(chan []creationOf, 1)
		go func() {
			created := make([]creationOf, containers)
			var all errgroup.Group
			for i := range created {
				all.Go(func() error {
					start := time.Now()
					id, err := c.Create(ctx, id, pod, c.Container(fmt.Sprint(name, i)))
					created[i] = creationOf{ID: id, Took: time.Since(start), Err: err}
					return nil
				})
			}
			_ = all.Wait() // the errors are in the list
			done <- created
		}()
		requireSoon(t, "the requests", func(context.Context) error {
			log, err := n.Log()
			if asked := strings.Count(log, `for container name:\"`+name); err == nil && asked < containers {
				err = fmt.Errorf("%d of %d are there", asked, containers)
			}
			return err
		})
		return done
	}

	late := create("late")
	exempt := podIn(n, "exempt", "exempt", nil)
	exemptID, err := c.RunPod(ctx, exempt)
	require.NoError(t, err)
	_, err = c.Create(ctx, exemptID, exempt, c.Container("main"))
	promise(t, "L20", "a container of an exempt namespace is created meanwhile", keptOnStock, func(t require.TestingT) { require.NoError(t, err) })
	if !runsOnStock {
		require.Empty(t, late, "the others wait")
	}
	first := joinProcess(t, n, plugin.Script{Index: "10", Name: "must"})
	created := <-late
	promise(t, "L20", "containers are created once it has come, with its answer", onStock(fixture.NotRequired), func(t require.TestingT) {
		for _, ctr := range created {
			require.NoError(t, ctr.Err)
			requireWordOf(t, ctr.ID, first)
		}
	})
	require.NoError(t, first.Kill())
	requireSoon(t, "the plugin to be gone", func(context.Context) error { return isAway(t, n) })

	second := joinProcess(t, n, plugin.Script{Index: "90", Name: "must", Answers: map[plugin.Event]plugin.Answer{plugin.CreateContainer: {Work: time.Minute}}})
	killed := create("killed")
	requireSoon(t, "the hook", func(context.Context) error { return hasGot(second, plugin.CreateContainer) })
	if !runsOnStock { // where they wait in line for a lock
		requireWaiting(t, n, second, containers-1)
	}
	require.NoError(t, second.Kill())
	third := joinProcess(t, n, plugin.Script{Index: "10", Name: "must"})
	created = <-killed
	promise(t, "L20", "the container that it was killed at fails, and the others have the answer of the next", onStock("all are created without it"), func(t require.TestingT) {
		failed := 0
		for _, ctr := range created {
			if ctr.Err != nil {
				failed++
				requireUnavailable(t, ctr.Err, "did not answer")
				continue
			}
			requireWordOf(t, ctr.ID, third)
		}
		assert.Equal(t, 1, failed)
	})
	removeAllPods(ctx, t, c)
	requireNothingLeft(t, n)
}

// requireWordOf checks that a plugin has answered for a container in CreateContainer.
func requireWordOf(t require.TestingT, container string, p *plugin.Process) {
	requireSoon(t, "the word of "+p.Name()+" for container "+container, func(context.Context) error {
		for _, call := range p.Calls().Only(plugin.CreateContainer) {
			if call.Container.GetId() == container && !call.End.IsZero() {
				return nil
			}
		}
		return fmt.Errorf("it has answered %d", len(p.Calls().Only(plugin.CreateContainer)))
	})
}
