// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"time"
)

// Timeline is the drawing of a case: the calls of CRI and the restarts of the runtime above, and
// below them a track for each connection of a plugin.
type Timeline struct {
	Name       string
	Start, End time.Time
	Tracks     []Track
}

// Track is a line of a timeline.
type Track struct {
	Name  string
	Spans []Span
}

// Span is something with a duration.
type Span struct {
	Name, Of   string
	Start, End time.Time
	Error      string
	Hangs      bool   // the runtime canceled it, or it had not ended when the case did
	ID         string // of its span in OTLP, empty where it has none yet
	Plugin     bool
}

// Timeline is the timeline of the case's records.
func (c Case) Timeline() Timeline {
	t := Timeline{Name: c.Name, Start: c.Started, End: c.Started.Add(time.Duration(c.Seconds * float64(time.Second)))}
	var calls, commands []Span
	for _, call := range c.Calls {
		s := Span{Name: call.Name, Of: call.Of, Start: call.Start, End: call.End, Error: call.Error, ID: call.Span}
		if call.Of == OfRuntime {
			commands = append(commands, s)
		} else {
			calls = append(calls, s)
		}
	}
	const most = 6 // further calls are drawn over others
	t.Tracks = append(lines("CRI", calls, most), lines("runtime", commands, most)...)
	for _, p := range c.Plugins {
		track := Track{Name: p.Plugin}
		if p.Number > 1 {
			track.Name += fmt.Sprintf(" #%d", p.Number)
		}
		for _, e := range p.Events {
			s := Span{Name: e.Name, Of: first(e.Container, e.Pod), Start: e.Start, Error: e.Error, Hangs: e.Abandoned, Plugin: true}
			if e.End != nil {
				s.End = *e.End
			} else {
				s.End, s.Hangs = t.End, true
			}
			track.Spans = append(track.Spans, s)
		}
		t.Tracks = append(t.Tracks, track)
	}
	t.fit()
	return t
}

// lines puts each span on the first free line, of at most so many: concurrent spans are on
// separate lines.
func lines(name string, all []Span, most int) (tracks []Track) {
	free := func(at time.Time) int {
		for i, track := range tracks {
			if i == most-1 || !track.Spans[len(track.Spans)-1].End.After(at) {
				return i
			}
		}
		tracks = append(tracks, Track{Name: name})
		return len(tracks) - 1
	}
	for _, s := range all {
		i := free(s.Start)
		tracks[i].Spans = append(tracks[i].Spans, s)
	}
	return tracks
}

// fit cuts the timeline to its spans.
func (t *Timeline) fit() {
	var from, to time.Time
	for _, track := range t.Tracks {
		for _, s := range track.Spans {
			if from.IsZero() || s.Start.Before(from) {
				from = s.Start
			}
			if s.End.After(to) {
				to = s.End
			}
		}
	}
	if !from.IsZero() {
		t.Start, t.End = from, to
	}
}

func first(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}
