// SPDX-License-Identifier: Apache-2.0

package catchup

import (
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/internal/nri/lifecycle/ledger"
	"github.com/hookline-nri/hookline/internal/nri/missed"
)

// opened returns the records of a store in a file. A request is the text of its event.
func opened(t *testing.T, path string) (rs *Records, shut func()) {
	t.Helper()
	store := missed.Open(missed.Options{Path: path, Failed: func(err error) { assert.NoError(t, err) }})
	text := func(ev ledger.Event) string { return fmt.Sprint(ev.Request) }
	implied := func(kind ledger.Kind, container string, of ledger.Event) any {
		return fmt.Sprintf("%s %s", kind, ledger.ID{Pod: of.Pod, Container: container})
	}
	rs = &Records{Store: store, Encode: text, Implied: implied}
	return rs, func() {
		store.Sync()
		store.Close()
	}
}

// everything is the subscription to all events.
func everything() ledger.Kinds { return ledger.KindsOf(func(ledger.Kind) bool { return true }) }

func snapshot(pods ...string) (s ledger.Snapshot) {
	for _, pod := range pods {
		s.Pods = append(s.Pods, ledger.Object{Pod: pod})
	}
	return s
}

// ends formats the missed events.
func ends(missed []Missed) string {
	var all []string
	for _, m := range missed {
		end := fmt.Sprintf("%s:%s", m.End.Kind, m.End.Pod)
		if m.End.Container != "" {
			end += "/" + m.End.Container
		}
		all = append(all, end)
	}
	return strings.Join(all, " ")
}

// leaving joins a plugin that knows the objects of s, and disconnects it.
func (rs *Records) leaving(s ledger.Snapshot) (*Record, *ledger.Ledger) {
	g := ledger.Synchronized(s, ledger.New())
	r := rs.Joined(nil, "10-a", everything())
	r.Left(g)
	return r, g
}

// A plugin that comes back misses the ends that came while it was disconnected, in their order,
// until it has answered them.
func TestMissed(t *testing.T) {
	rs, shut := opened(t, filepath.Join(t.TempDir(), "missed.db"))
	defer shut()
	r, former := rs.leaving(snapshot("p1", "p2"))
	for _, id := range []string{"p2", "p1"} {
		r.Miss(ledger.ID{Pod: id}.Stop())
	}
	g := ledger.Synchronized(snapshot(), former)
	r = rs.Joined(r, "10-a", everything())
	assert.Equal(t, "StopPodSandbox:p2 StopPodSandbox:p1", ends(r.Missed(snapshot(), g, former)))
	r.Heard(ledger.ID{Pod: "p2"}.Stop())
	assert.Equal(t, "StopPodSandbox:p1", ends(r.Missed(snapshot(), g, former)))
}

// An object that the runtime still lists has its ends still to come. Only the Stop of a stopped
// pod is missed.
func TestListedObjectsMissOnlyStops(t *testing.T) {
	rs, shut := opened(t, filepath.Join(t.TempDir(), "missed.db"))
	defer shut()
	r, former := rs.leaving(snapshot("p1", "p2"))
	for _, id := range []string{"p1", "p2"} {
		r.Miss(ledger.ID{Pod: id}.Stop())
	}
	received := snapshot("p1", "p2")
	received.Pods[1].Stopped = true
	g := ledger.Synchronized(received, former)
	r = rs.Joined(r, "10-a", everything())
	assert.Equal(t, "StopPodSandbox:p2", ends(r.Missed(received, g, former)))
}

// The Stop during which the runtime was killed is not stored.
func TestMissedStopWithoutStore(t *testing.T) {
	rs, shut := opened(t, filepath.Join(t.TempDir(), "missed.db"))
	defer shut()
	r, former := rs.leaving(snapshot("p1"))
	received := snapshot("p1")
	received.Pods[0].Stopped = true
	g := ledger.Synchronized(received, former)
	r = rs.Joined(r, "10-a", everything())
	missed := r.Missed(received, g, former)
	require.Equal(t, "StopPodSandbox:p1", ends(missed))
	assert.True(t, missed[0].Unkept)
	assert.Equal(t, "StopPodSandbox {p1 }", missed[0].End.Request)
}

// Nothing is kept for a plugin without subscription to ends.
func TestNoRecord(t *testing.T) {
	rs, shut := opened(t, filepath.Join(t.TempDir(), "missed.db"))
	defer shut()
	r, g := rs.leaving(snapshot("p1"))
	r.Miss(ledger.ID{Pod: "p1"}.Stop())
	g.MarkRemoved([]ledger.Event{ledger.ID{Pod: "p1"}.Removal()})
	r = rs.Joined(r, "10-a", 0)
	assert.Nil(t, r)
	assert.Empty(t, r.Missed(snapshot(), g, g))
	assert.False(t, g.Knows(ledger.ID{Pod: "p1"}))
	for name := range rs.Store.Names() {
		assert.Fail(t, "a name is kept", name)
	}
}

// After a restart, a disconnected plugin knows what it knew when it left, and a connected one
// knows what the runtime lists. Objects that have gone since then have ended.
func TestRecall(t *testing.T) {
	exited := ledger.Object{Pod: "p1", Container: "c1"}
	for _, c := range []struct {
		name   string
		gone   bool
		there  ledger.Snapshot
		lists  bool
		cut    []ledger.Object
		knows  []ledger.ID
		missed string
	}{
		{name: "disconnected", gone: true, there: snapshot("p1"), lists: true, knows: []ledger.ID{{Pod: "p1"}, {Pod: "p2"}}, missed: "StopPodSandbox:p2 RemovePodSandbox:p2"},
		{name: "disconnected, without a list", gone: true, knows: []ledger.ID{{Pod: "p1"}, {Pod: "p2"}}, missed: "StopPodSandbox:p2 RemovePodSandbox:p2"},
		{name: "connected", there: snapshot("p1"), lists: true, knows: []ledger.ID{{Pod: "p1"}}},
		{
			name:  "connected, and a container has exited",
			there: ledger.Snapshot{Pods: snapshot("p1").Pods, Exited: []ledger.Object{exited}}, lists: true,
			knows: []ledger.ID{{Pod: "p1"}, exited.ID()},
		},
		{name: "connected, and a pod was cut in its creation", there: snapshot("p1"), lists: true, cut: snapshot("p3").Pods, knows: []ledger.ID{{Pod: "p1"}, {Pod: "p3"}}, missed: "StopPodSandbox:p3 RemovePodSandbox:p3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "missed.db")
			rs, shut := opened(t, path)
			if c.gone {
				rs.leaving(snapshot("p1", "p2"))
			} else {
				rs.Joined(nil, "10-a", everything())
			}
			shut() // the runtime is started again

			rs, shut = opened(t, path)
			defer shut()
			all := rs.Recall(maps.Collect(rs.Store.Names()), c.there, c.lists, map[string][]ledger.Object{"10-a": c.cut})
			require.Len(t, all, 1)
			assert.Equal(t, "10-a", all[0].Name)
			var knows []ledger.ID
			for id := range all[0].Ledger.All() {
				knows = append(knows, id)
			}
			assert.ElementsMatch(t, c.knows, knows)
			r, former := all[0].Record, all[0].Ledger
			received := snapshot("p1")
			received.Exited = c.there.Exited
			g := ledger.Synchronized(received, former)
			r = rs.Joined(r, "10-a", everything())
			r.MissGone(g, received)
			assert.Equal(t, c.missed, ends(r.Missed(received, g, former)))
		})
	}
}

// An end must be safe before the runtime forgets its object: this holds for each end before the
// store has what the plugin knows, and for each removal.
func TestUrgent(t *testing.T) {
	rs, shut := opened(t, filepath.Join(t.TempDir(), "missed.db"))
	defer shut()
	r, _ := rs.leaving(snapshot("p1"))
	stop, removal := ledger.ID{Pod: "p1"}.Stop(), ledger.ID{Pod: "p1"}.Removal()
	urgent, kept := r.Miss(stop)
	assert.True(t, urgent)
	assert.True(t, kept)
	r.Safe()
	urgent, _ = r.Miss(stop)
	assert.False(t, urgent)
	urgent, _ = r.Miss(removal)
	assert.True(t, urgent)
	assert.Equal(t, 2, r.Forget())
	_, kept = r.Miss(stop)
	assert.False(t, kept)
}
