// SPDX-License-Identifier: Apache-2.0

package adaptation_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	nri "github.com/containerd/nri/pkg/adaptation"
	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/stub"
)

// A plugin that is turned off is disconnected, and learns why it cannot register. When it is on, it
// receives what the runtime showed before.
func TestTurnedOffPlugin(t *testing.T) {
	o := newRemembering(t)
	o.comes()
	o.begin()
	connected, err := o.TurnOffPlugin("00-hears")
	require.NoError(t, err)
	require.True(t, connected)
	require.Eventually(t, func() bool { return len(o.PluginStatus()) == 0 }, soon, time.Millisecond)

	s, err := stub.New(&hearing{}, stub.WithPluginName("hears"), stub.WithPluginIdx("00"), stub.WithSocketPath(filepath.Join(o.dir, "nri.sock")))
	require.NoError(t, err)
	defer s.Stop()
	require.ErrorContains(t, s.Start(context.Background()), "plugin 00-hears is turned off")

	o.end()
	o.lists([]*api.PodSandbox{{Id: "pod1"}}, []*api.Container{{Id: "ctr1", PodSandboxId: "pod1"}}, nil)
	x, err := o.Expect(context.Background(), "00-hears", 3)
	require.NoError(t, err)
	require.Equal(t, []int{1, 1, 1, 1}, []int{x.Pods, x.NewPods, x.Containers, x.NewContainers})
	var missed []string
	for _, e := range x.Ends {
		missed = append(missed, fmt.Sprintf("%s %s %s", e.Event, e.Pod.GetName(), e.Container.GetId()))
	}
	require.Equal(t, []string{"StopContainer name0 ctr0", "RemoveContainer name0 ctr0", "StopPodSandbox name0 "}, missed)
	require.Equal(t, 4, x.Missed)

	for _, off := range []bool{true, false} {
		was, err := o.TurnOnPlugin("00-hears")
		require.NoError(t, err)
		require.Equal(t, off, was)
	}
	p, _ := o.comes()
	o.requireHeard(p, missedLife...)
}

func TestTurnOffLeaves(t *testing.T) {
	dir := t.TempDir()
	r, record := handing(t, dir, nri.PluginSettings{})
	p := &mockPlugin{idx: "10", name: "one"}
	started(t, dir, p)
	require.NoError(t, p.Wait(PluginSynchronized, time.After(soon)))
	connected, err := r.TurnOffPlugin("20-one")
	require.NoError(t, err)
	require.False(t, connected, "it has another index")
	run(t, r, "p1")
	_, err = r.TurnOffPlugin("10-one")
	require.NoError(t, err)
	run(t, r, "p2")
	require.NoError(t, p.Wait(PluginDisconnected, time.After(soon)))
	require.False(t, p.EventQ().Has(PodSandboxEvent(&api.PodSandbox{Id: "p2"}, RunPodSandbox)))
	require.Eventually(t, func() bool { return len(record.left()) > 0 }, soon, time.Millisecond)
	require.Equal(t, []string{"10-one off"}, record.left())
}

// Only the index and name of a plugin can be turned off.
func TestTurnOffNames(t *testing.T) {
	o := newRemembering(t)
	for _, name := range []string{"", "logger", "1-logger", "10-", "10-a/b", "10-" + string(make([]byte, 65))} {
		_, err := o.TurnOffPlugin(name)
		require.ErrorContains(t, err, "as 10-logger", "%q", name)
		_, err = o.TurnOnPlugin(name)
		require.ErrorContains(t, err, "as 10-logger", "%q", name)
	}
}
