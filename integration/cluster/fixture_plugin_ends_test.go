// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/containerd/nri/pkg/api"
	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/integration/cluster/record"
	"github.com/hookline-nri/hookline/podstate"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// A pod has ended when each of its sandboxes has: the kubelet may have created more than one.
func TestMissingEnds(t *testing.T) {
	one := &api.PodSandbox{Id: "1", Uid: "u", Namespace: "n"}
	two := &api.PodSandbox{Id: "2", Uid: "u", Namespace: "n"}
	other := &api.PodSandbox{Id: "3", Uid: "v", Namespace: "elsewhere"}
	now := time.Now()
	removed := func(pod *api.PodSandbox, at time.Time) plugin.Call {
		return plugin.Call{Event: plugin.RemovePodSandbox, Pod: pod, End: at}
	}
	missing := func(calls ...plugin.Call) []string {
		return missingEnds([]record.Process{{Calls: calls}}, "n", map[string]string{"u": "web"})
	}
	listed := plugin.Call{Event: plugin.Synchronize, Pods: []*api.PodSandbox{one, two}, End: now}

	require.Equal(t, []string{"web (0 of 0 sandboxes)"}, missing())
	require.Equal(t, []string{"web (0 of 0 sandboxes)"}, missing(removed(other, now)))
	require.Equal(t, []string{"web (1 of 2 sandboxes)"}, missing(listed, removed(one, now)))
	require.Equal(t, []string{"web (1 of 2 sandboxes)"}, missing(listed, removed(one, now), removed(two, time.Time{})), "not answered")
	require.Empty(t, missing(listed, removed(one, now), removed(two, now)))
}

// A process receives a pod as stopped. The next process, whose list does not have the pod any more, receives its
// removal alone.
func TestRemovalOfAPodThatAnEarlierProcessKnewAsStopped(t *testing.T) {
	pod := record.Object{ID: "p", Name: "web", Namespace: "n", State: podstate.Stopped}
	var text []byte
	for i, l := range []record.Line{
		{Process: "one", Number: 1, Event: plugin.Configure},
		{Process: "one", Number: 2, Event: plugin.Synchronize, Pods: []record.Object{pod}},
		{Process: "two", Number: 1, Event: plugin.Configure},
		{Process: "two", Number: 2, Event: plugin.Synchronize},
		{Process: "two", Number: 3, Event: plugin.RemovePodSandbox, Pod: &pod},
	} {
		l.Connection, l.Start = 1, time.Now().Add(time.Duration(i)*time.Second)
		l.End = l.Start
		encoded, err := json.Marshal(l)
		require.NoError(t, err)
		text = append(append(text, encoded...), '\n')
	}
	processes, err := record.Read(text)
	require.NoError(t, err)
	require.Equal(t, []plugin.Event{plugin.RemovePodSandbox}, requireLawful(t, processes, "n").Events())
}

// Containerd is killed while it asks a plugin about a container. The end of that container has ids
// alone. The plugin receives nothing else about containers that it does not know.
func TestWithoutCut(t *testing.T) {
	pod := &api.PodSandbox{Id: "p", Name: "web", Namespace: "n"}
	known, cut := &api.Container{Id: "known", Name: "main", PodSandboxId: "p"}, &api.Container{Id: "cut", PodSandboxId: "p"}
	now := time.Now()
	call := func(event plugin.Event, container *api.Container) plugin.Call {
		return plugin.Call{Event: event, Pod: pod, Container: container, Start: now, End: now}
	}
	before := []plugin.Calls{{call(plugin.CreateContainer, known)}}
	ends := plugin.Calls{call(plugin.StopContainer, known), call(plugin.RemoveContainer, known)}

	require.Equal(t, ends, withoutCut(t, ends, before))
	both := append(plugin.Calls{call(plugin.StopContainer, cut), call(plugin.RemoveContainer, cut)}, ends...)
	require.Equal(t, ends, withoutCut(t, both, before))
	unknown := &api.Container{Id: "unknown", Name: "main", PodSandboxId: "p"}
	stray := plugin.Calls{call(plugin.StopContainer, unknown)}
	require.Equal(t, stray, withoutCut(t, stray, before), "it has a name, so that it is for the rules")
}
