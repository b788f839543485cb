// SPDX-License-Identifier: Apache-2.0

package others

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// event is one that the program in hack/tools/plugins/stub has written.
type event struct {
	Event, Pod string
	Pods       []string
}

// told are the events of the first instance, of all of its processes.
type told []event

// told reads the events so far.
func (l *life) told() told {
	file, err := os.Open(filepath.Join(l.folder, out))
	if err != nil {
		return nil // nothing was said yet
	}
	defer func() { _ = file.Close() }() // it was read only
	var t told
	for lines := json.NewDecoder(file); ; {
		var e event
		if err := lines.Decode(&e); err != nil {
			if !errors.Is(err, io.EOF) {
				l.Logf("read the events of the plugin: %v", err)
			}
			return t
		}
		t = append(t, e)
	}
}

// eventually waits until the events are as they should be.
func (l *life) eventually(ctx context.Context, are func(told) error) error {
	return eventually(ctx, "events", func() error { return are(l.told()) })
}

// of are the names of the events of a pod.
func (t told) of(pod string) (events []string) {
	for _, e := range t {
		if e.Pod == pod {
			events = append(events, e.Event)
		}
	}
	return events
}

// ends are the events of the end of a pod with a container.
var ends = []string{"StopContainer", "StopPodSandbox", "RemoveContainer", "RemovePodSandbox"}

// has tells whether an event of a pod came.
func (t told) has(pod, event string) error {
	if events := t.of(pod); !slices.Contains(events, event) {
		return fmt.Errorf("of pod %s the plugin received no %s, but %v", pod, event, events)
	}
	return nil
}

// ended tells whether pods had all events of their ends.
func (t told) ended(pods ...string) error {
	for _, pod := range pods {
		for _, end := range ends {
			if err := t.has(pod, end); err != nil {
				return err
			}
		}
	}
	return nil
}

// knows tells whether the plugin was told of a pod's beginning, in one way or the other.
func (t told) knows(pod string) error {
	if t.has(pod, "RunPodSandbox") == nil {
		return nil
	}
	return t.synchronized(pod)
}

// inOrder tells whether a pod that was run, updated and ended had each event in its place.
func (t told) inOrder(pod string) error {
	want := append([]string{"RunPodSandbox", "CreateContainer", "StartContainer", "UpdateContainer"}, ends...)
	if got := t.of(pod); !slices.Equal(got, want) {
		return fmt.Errorf("of pod %s the plugin received %v, want %v", pod, got, want)
	}
	return nil
}

// noneTwice tells whether no event of pods came twice.
func (t told) noneTwice(pods ...string) error {
	for _, pod := range pods {
		events := t.of(pod)
		slices.Sort(events)
		if len(slices.Compact(slices.Clone(events))) != len(events) {
			return fmt.Errorf("of pod %s the plugin received %v", pod, t.of(pod))
		}
	}
	return nil
}

// synchronized tells whether the last Synchronize had a pod.
func (t told) synchronized(pod string) error {
	for _, e := range slices.Backward(t) {
		if e.Event != "Synchronize" {
			continue
		}
		if !slices.Contains(e.Pods, pod) {
			return fmt.Errorf("pod %s is not among %v", pod, e.Pods)
		}
		return nil
	}
	return errors.New("no Synchronize")
}
