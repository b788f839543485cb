// SPDX-License-Identifier: Apache-2.0

package required

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// Only containers require the plugin. It connects late, is killed at one of several waiting
// containers, and reconnects: pods start without it, and containers only in an exempt namespace.
func TestL20_ContainersWaitForARequiredPlugin(t *testing.T) {
	t.Parallel()
	const containers = 4
	n := StartNode(t, WithNeeds(Patient), WithConfig(PluginSetting("must", "required_for = ['containers']\nexempt_namespaces = ['exempt']\nwait = '40s'")))
	ctx, c := WithinAMinute(t), n.CRI()
	pod := PodIn(n, "default", "pod", nil)
	id, err := c.RunPod(ctx, pod)
	require.NoError(t, err)
	create := func(name string) <-chan []CreationOf {
		done := make(chan []CreationOf, 1)
		go func() {
			created := make([]CreationOf, containers)
			var all errgroup.Group
			for i := range created {
				all.Go(func() error {
					start := time.Now()
					id, err := c.Create(ctx, id, pod, c.Container(fmt.Sprint(name, i)))
					created[i] = CreationOf{ID: id, Took: time.Since(start), Err: err}
					return nil
				})
			}
			_ = all.Wait() // the errors are in the list
			done <- created
		}()
		RequireSoon(t, "the requests", func(context.Context) error {
			log, err := n.Log()
			if asked := strings.Count(log, `for container name:\"`+name); err == nil && asked < containers {
				err = fmt.Errorf("%d of %d have arrived", asked, containers)
			}
			return err
		})
		return done
	}

	late := create("late")
	exempt := PodIn(n, "exempt", "exempt", nil)
	exemptID, err := c.RunPod(ctx, exempt)
	require.NoError(t, err)
	_, err = c.Create(ctx, exemptID, exempt, c.Container("main"))
	Promise(t, "L20", "a container of an exempt namespace is created meanwhile", KeptOnStock, func(t require.TestingT) { require.NoError(t, err) })
	if !RunsOnStock {
		require.Empty(t, late, "the others wait")
	}
	first := JoinProcess(t, n, plugin.Script{Index: "10", Name: "must"})
	created := <-late
	Promise(t, "L20", "containers are created with its answer, once it is connected", OnStock(NotRequired), func(t require.TestingT) {
		for _, ctr := range created {
			require.NoError(t, ctr.Err)
			requireApprovalOf(t, ctr.ID, first)
		}
	})
	require.NoError(t, first.Kill())
	RequireSoon(t, "the plugin to be disconnected", func(context.Context) error { return IsDisconnected(t, n) })

	second := JoinProcess(t, n, plugin.Script{Index: "90", Name: "must", Answers: map[plugin.Event]plugin.Answer{plugin.CreateContainer: {Work: time.Minute}}})
	killed := create("killed")
	RequireSoon(t, "the hook", func(context.Context) error { return HasGot(second, plugin.CreateContainer) })
	if !RunsOnStock { // on stock they wait for a lock
		RequireWaiting(t, n, second, containers-1)
	}
	require.NoError(t, second.Kill())
	third := JoinProcess(t, n, plugin.Script{Index: "10", Name: "must"})
	created = <-killed
	Promise(t, "L20", "the container in its hook fails, and the others start with the answer of the next process", OnStock("all are created without it"), func(t require.TestingT) {
		failed := 0
		for _, ctr := range created {
			if ctr.Err != nil {
				failed++
				RequireUnavailable(t, ctr.Err, "did not answer")
				continue
			}
			requireApprovalOf(t, ctr.ID, third)
		}
		assert.Equal(t, 1, failed)
	})
	RemoveAllPods(ctx, t, c)
	RequireNothingLeft(t, n)
}

// requireApprovalOf checks that a plugin has answered CreateContainer of a container.
func requireApprovalOf(t require.TestingT, container string, p *plugin.Process) {
	RequireSoon(t, "the approval of "+p.Name()+" for container "+container, func(context.Context) error {
		for _, call := range p.Calls().Only(plugin.CreateContainer) {
			if call.Container.GetId() == container && !call.End.IsZero() {
				return nil
			}
		}
		return fmt.Errorf("it has answered %d", len(p.Calls().Only(plugin.CreateContainer)))
	})
}
