// SPDX-License-Identifier: Apache-2.0

package report

import (
	"encoding/json"
	"fmt"
	"io"
)

// chromeEvent is an event of Chrome's trace format. Times are in microseconds.
type chromeEvent struct {
	Name  string         `json:"name"`
	Phase string         `json:"ph"`
	At    int64          `json:"ts"`
	Took  int64          `json:"dur,omitempty"`
	Pid   int            `json:"pid"`
	Tid   int            `json:"tid"`
	Args  map[string]any `json:"args,omitempty"`
}

// threads is the number of ids for the threads of a process: threads of two processes must have
// different ids.
const threads = 10_000

// separate splits the tracks of a timeline so that no two spans of a track overlap: events of a
// thread must not.
func (t Timeline) separate() (tracks []Track) {
	for _, track := range t.Tracks {
		tracks = append(tracks, lines(track.Name, track.Spans, len(track.Spans))...)
	}
	return tracks
}

// Chrome writes all timelines in Chrome's trace format, for Perfetto: a process for each case, a
// thread for each track.
func (r *Report) Chrome(w io.Writer) error {
	// displayTimeUnit is left out: Perfetto before 22 takes it for the unit of all times.
	all := struct {
		Events []chromeEvent `json:"traceEvents"`
	}{Events: []chromeEvent{}}
	say := func(kind, key string, value any, pid, tid int) {
		all.Events = append(all.Events, chromeEvent{Name: kind, Phase: "M", Pid: pid, Tid: tid, Args: map[string]any{key: value}})
	}
	for i, c := range r.Cases {
		t := c.Timeline()
		if len(t.Tracks) == 0 {
			continue
		}
		pid := threads * (i + 1)
		say("process_name", "name", c.Name, pid, pid)
		say("process_sort_index", "sort_index", i, pid, pid) // without it the case with the most events is first
		for j, track := range t.separate() {
			tid := pid + j // the first is the main thread, which Perfetto shows above the others
			say("thread_name", "name", track.Name, pid, tid)
			for _, s := range track.Spans {
				args := map[string]any{"of": s.Of}
				if s.Error != "" {
					args["error"] = s.Error
				}
				if s.Hangs {
					args["error"] = "not answered in time"
				}
				all.Events = append(all.Events, chromeEvent{
					Name: s.Name, Phase: "X", At: s.Start.UnixMicro(), Took: max(s.End.Sub(s.Start).Microseconds(), 1), Pid: pid, Tid: tid, Args: args,
				})
			}
		}
	}
	if err := json.NewEncoder(w).Encode(all); err != nil {
		return fmt.Errorf("write trace for Perfetto: %w", err)
	}
	return nil
}
