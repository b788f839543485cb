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

// event is an event of a pod, or the begin of a Synchronize, whose pods follow it.
type event struct{ name, pod string }

// line matches a line of logger's log: the begin of a Synchronize, or the name of a pod in an
// event. Each line of an event has the event's name. The names of containers differ from those of
// pods.
var line = regexp.MustCompile(`(\w+):(?: pods:| +(?:- )?name: ([\w-]+))"?\n`)

// received is the list of events of the first instance, of all of its processes.
type received []event

// received reads the events so far.
func (l *life) received() (t received) {
	text, err := os.ReadFile(filepath.Join(l.folder, logs))
	if err != nil {
		return nil // no log yet
	}
	for _, found := range line.FindAllStringSubmatch(string(text), -1) {
		t = append(t, event{found[1], found[2]})
	}
	return t
}

// eventually waits until the events meet a condition.
func (l *life) eventually(ctx context.Context, are func(received) error) error {
	return eventually(ctx, "events", func() error { return are(l.received()) })
}

// of returns the names of the events of a pod.
func (t received) of(pod string) (events []string) {
	for _, e := range t {
		if e.pod == pod && e.name != synchronize {
			events = append(events, e.name)
		}
	}
	return events
}

// whole lists the events of a pod with a container that is updated, and ends those of its end.
var (
	whole = append([]string{"RunPodSandbox", "CreateContainer", "StartContainer", "UpdateContainer"}, ends...)
	ends  = []string{"StopContainer", "StopPodSandbox", "RemoveContainer", "RemovePodSandbox"}
)

// synchronize is the event after each join.
const synchronize = "Synchronize"

// has returns nil if an event of a pod was received.
func (t received) has(pod, event string) error {
	if events := t.of(pod); !slices.Contains(events, event) {
		return fmt.Errorf("of pod %s the plugin received no %s, but %v", pod, event, events)
	}
	return nil
}

// ended returns nil if all events of the ends of pods were received.
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

// knows returns nil if the plugin received a pod, in Synchronize or by its creation.
func (t received) knows(pod string) error {
	if t.has(pod, "RunPodSandbox") == nil {
		return nil
	}
	return t.synchronized(pod)
}

// inOrder returns nil if the events of a pod that was run, updated and ended are complete and in
// order.
func (t received) inOrder(pod string) error {
	if got := t.of(pod); !slices.Equal(got, whole) {
		return fmt.Errorf("of pod %s the plugin received %v, want %v", pod, got, whole)
	}
	return nil
}

// noneTwice returns nil if no event of the pods was received twice.
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

// synchronized returns nil if the last Synchronize had a pod.
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
