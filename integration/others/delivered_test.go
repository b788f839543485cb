// SPDX-License-Identifier: Apache-2.0

package others

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
)

// event is one of a pod, or the beginning of a Synchronize, whose pods come after it.
type event struct{ name, pod string }

// line is one of logger's log: that a Synchronize begins, or the name of a pod in an event. Its own
// name is in each line of an event. A container has a name, too, that no pod has.
var line = regexp.MustCompile(`(\w+):(?: pods:| +(?:- )?name: ([\w-]+))"?\n`)

// told are the events of the first instance, of all of its processes.
type received []event

// told reads the events so far.
func (l *life) received() (t received) {
	text, err := os.ReadFile(filepath.Join(l.folder, logs))
	if err != nil {
		return nil // nothing was said yet
	}
	for _, found := range line.FindAllStringSubmatch(string(text), -1) {
		t = append(t, event{found[1], found[2]})
	}
	return t
}

// eventually waits until the events are as they should be.
func (l *life) eventually(ctx context.Context, are func(received) error) error {
	return eventually(ctx, "events", func() error { return are(l.received()) })
}

// of are the names of the events of a pod.
func (t received) of(pod string) (events []string) {
	for _, e := range t {
		if e.pod == pod && e.name != synchronize {
			events = append(events, e.name)
		}
	}
	return events
}

// whole are the events of a pod with a container that is updated, and ends those of its end.
var (
	whole = append([]string{"RunPodSandbox", "CreateContainer", "StartContainer", "UpdateContainer"}, ends...)
	ends  = []string{"StopContainer", "StopPodSandbox", "RemoveContainer", "RemovePodSandbox"}
)

// synchronize is the event after each join.
const synchronize = "Synchronize"

// has tells whether an event of a pod came.
func (t received) has(pod, event string) error {
	if events := t.of(pod); !slices.Contains(events, event) {
		return fmt.Errorf("of pod %s the plugin received no %s, but %v", pod, event, events)
	}
	return nil
}

// ended tells whether pods had all events of their ends.
func (t received) ended(pods ...string) error {
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
func (t received) knows(pod string) error {
	if t.has(pod, "RunPodSandbox") == nil {
		return nil
	}
	return t.synchronized(pod)
}

// inOrder tells whether a pod that was run, updated and ended had each event in its place.
func (t received) inOrder(pod string) error {
	if got := t.of(pod); !slices.Equal(got, whole) {
		return fmt.Errorf("of pod %s the plugin received %v, want %v", pod, got, whole)
	}
	return nil
}

// noneTwice tells whether no event of pods came twice.
func (t received) noneTwice(pods ...string) error {
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
func (t received) synchronized(pod string) error {
	for _, e := range slices.Backward(t) {
		if e == (event{synchronize, pod}) {
			return nil
		}
		if e == (event{synchronize, ""}) {
			return fmt.Errorf("pod %s is not in the last Synchronize", pod)
		}
	}
	return errors.New("no Synchronize")
}
