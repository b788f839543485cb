// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"regexp"
	"time"
)

// Timeline is what happened in one case, to be drawn: the calls of CRI and the restarts of
// the runtime above, and below them a track for each connection of a plugin.
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

// Span is something that took its time.
type Span struct {
	Name, Of   string
	Start, End time.Time
	Error      string
	Hangs      bool   // the runtime gave it up, or it had no end when the case ended
	ID         string // of its span in OTLP, empty where it has none yet
	Plugin     bool
}

// randomEnd is what a run adds to the names of its plugins, so that no two runs share one.
var randomEnd = regexp.MustCompile(`-[0-9a-f]{8}$`)

// Timeline is that of the records that the case has.
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
	const most = 6 // what is beyond is drawn over another call
	t.Tracks = append(lines("CRI", calls, most), lines("runtime", commands, most)...)
	for _, p := range c.Plugins {
		track := Track{Name: randomEnd.ReplaceAllString(p.Plugin, "")}
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

// lines puts each span on the first line that is free, of at most so many: what goes on at
// once stands on lines of its own.
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

// fit cuts the timeline to what is in it.
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
