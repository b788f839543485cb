// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/internal/edit"
)

func TestCheckThreads(t *testing.T) {
	series := edit.Series{Patches: []edit.Patch{{Module: "door", Slug: "ring"}}}
	whole := Thread{Name: "example/door#1", Title: "Doors ring.", Seen: "its head", Patches: []string{"door/ring"}, Then: "It drops out."}
	for _, c := range []struct {
		name, problem string
		change        func(*Thread)
	}{
		{"whole", "", func(*Thread) {}},
		{"a patch that is gone", "thread example/door#1: patch door/knock is not in the series: look again at what happens to it", func(t *Thread) { t.Patches = append(t.Patches, "door/knock") }},
		{"no patch", `thread "example/door#1": say what it changes, which part was seen, which patches it meets and what happens to them`, func(t *Thread) { t.Patches = nil }},
		{"no outcome", `thread "example/door#1": say what it changes, which part was seen, which patches it meets and what happens to them`, func(t *Thread) { t.Then = "" }},
	} {
		t.Run(c.name, func(t *testing.T) {
			thread := whole
			c.change(&thread)
			err := errors.Join(CheckThreads(series, []Thread{thread})...)
			if c.problem == "" {
				require.NoError(t, err)
				return
			}
			require.EqualError(t, err, c.problem)
		})
	}
}
