// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/containerd/nri/pkg/api"
	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/testkit/plugin"
)

var began = time.Unix(1000, 0)

// received returns the calls of a plugin: its registration, and then events of pod web and its
// container, a millisecond apart.
func received(events ...plugin.Event) plugin.Calls {
	var calls plugin.Calls
	for i, e := range slices.Concat([]plugin.Event{plugin.Configure, plugin.Synchronize}, events) {
		at := began.Add(time.Duration(i) * time.Millisecond)
		call := plugin.Call{Event: e, Start: at, End: at}
		if i > 1 {
			call.Pod = &api.PodSandbox{Id: "p1", Name: "web"}
		}
		if strings.HasSuffix(string(e), "Container") {
			call.Container = &api.Container{Id: "c1", Name: "app", PodSandboxId: "p1"}
		}
		calls = append(calls, call)
	}
	return calls
}

var life = []plugin.Event{
	plugin.RunPodSandbox, plugin.CreateContainer, plugin.StopContainer, plugin.RemoveContainer, plugin.StopPodSandbox, plugin.RemovePodSandbox,
}

func stop(took time.Duration, err error) step {
	return step{what: "StopPodSandbox web", start: began, end: began.Add(took), err: err}
}

// Each rule holds for a whole life, and is broken by the faults that it is about.
func TestRules(t *testing.T) {
	for name, c := range map[string]struct {
		story  story
		broken string // rule; none: all hold
	}{
		"a whole life":              {story{received: []record{{calls: received(life...)}}}, ""},
		"an end too few":            {story{received: []record{{calls: received(life[:5]...)}}}, "L3"},
		"an end twice":              {story{received: []record{{calls: received(append(slices.Clone(life), life[5])...)}}}, "L3"},
		"an end of the unknown":     {story{received: []record{{calls: received(plugin.StopPodSandbox)}}}, "L3"},
		"a dropped plugin":          {story{received: []record{{calls: received(life[:5]...), dropped: true}}}, ""},
		"a container after its pod": {story{received: []record{{calls: received(life[0], life[1], life[4], life[2], life[3], life[5])}}}, "L1"},
		"something left":            {story{left: []string{"mount /x"}}, "L7"},
		"a stop that failed":        {story{steps: []step{stop(0, errors.New("no"))}}, "L8"},
		"a stop within the timeout": {story{steps: []step{stop(timeout+slack, nil)}}, ""},
		"a stop beyond the timeout": {story{steps: []step{stop(timeout+slack+1, nil)}}, "L9"},
	} {
		t.Run(name, func(t *testing.T) {
			broken := map[string]bool{}
			for _, v := range c.story.rules() {
				if len(v.broken) > 0 {
					broken[v.rule] = true
				}
			}
			if c.broken == "" {
				require.Empty(t, broken)
			} else {
				require.Contains(t, broken, c.broken)
			}
		})
	}
}

func TestTable(t *testing.T) {
	hangs := received(life[:5]...)
	hangs[6].End = time.Time{}
	fails := received(life...)
	fails[4].Err = errors.New("no")
	s := story{
		start:    began,
		steps:    []step{stop(time.Second, nil)},
		received: []record{{name: "10-fails", calls: fails}, {name: "20-hangs", calls: hangs, dropped: true}},
	}
	var out bytes.Buffer
	s.write(&out)
	require.Contains(t, out.String(), `
at    request and events            10-fails  20-hangs
0 ms  StopPodSandbox web (1000 ms)            
2 ms    RunPodSandbox               ok        ok
3 ms    CreateContainer             ok        ok
4 ms    StopContainer               fails     ok
5 ms    RemoveContainer             ok        ok
6 ms    StopPodSandbox              ok        hangs, dropped
7 ms    RemovePodSandbox            ok        -
`)
}
