// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"crypto/rand"
	"encoding/hex"
	"strings"
	"time"

	"github.com/hookline-nri/hookline/conformance"
	"github.com/hookline-nri/hookline/conformance/report"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// draw writes the timeline into a folder, as the conformance test does for a case: a
// picture, and traces for Jaeger and Perfetto.
func (s *story) draw(plugins []*plugin.Plugin, folder string) error {
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails
	whole := report.Case{Name: "demo", Run: 1, Started: s.start, Seconds: time.Since(s.start).Seconds(), Trace: hex.EncodeToString(id[:])}
	for _, st := range s.steps {
		name, of, _ := strings.Cut(st.what, " ")
		call := report.Call{Name: name, Of: of, Start: st.start, End: st.end}
		if st.err != nil {
			call.Error = st.err.Error()
		}
		whole.Calls = append(whole.Calls, call)
	}
	for _, p := range plugins {
		whole.Plugins = append(whole.Plugins, conformance.Connections(p)...)
	}
	return (&report.Report{Cases: []report.Case{whole}}).WriteTimelines(folder)
}
