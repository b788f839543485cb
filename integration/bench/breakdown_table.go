// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// WhereTable writes a Markdown table for each call: a row for each program, a column for each
// runtime and number of concurrent calls.
func WhereTable(w io.Writer, all []Breakdown) error {
	var b strings.Builder
	for rest := all; len(rest) > 0; {
		call := rest[0].Call
		var columns []Breakdown
		rest = slices.DeleteFunc(slices.Clone(rest), func(of Breakdown) bool {
			if of.Call == call {
				columns = append(columns, of)
			}
			return of.Call == call
		})
		slices.SortStableFunc(columns, func(a, b Breakdown) int {
			if a.AtOnce != b.AtOnce {
				return a.AtOnce - b.AtOnce
			}
			return strings.Compare(b.Runtime, a.Runtime) // stock first
		})
		writeWhere(&b, call, columns)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// writeWhere writes the table of a call.
func writeWhere(b *strings.Builder, call string, columns []Breakdown) {
	heads := []string{call}
	for _, of := range columns {
		heads = append(heads, fmt.Sprintf("%s, %d at a time (%d)", of.Runtime, of.AtOnce, len(of.Calls)))
	}
	line := func(cells ...string) { fmt.Fprintf(b, "| %s |\n", strings.Join(cells, " | ")) }
	line(heads...)
	line(slices.Repeat([]string{"---"}, len(heads))...)
	row := func(name string, cell func(Breakdown) string) {
		cells := []string{name}
		for _, of := range columns {
			cells = append(cells, cell(of))
		}
		line(cells...)
	}
	row("the call", func(of Breakdown) string { return number(of.Calls.median(), "sec/op") })
	for _, name := range programNames(columns) {
		row(name, func(of Breakdown) string { return of.share(name).cell(len(of.Calls)) })
	}
	row("none of these, but for what goes on", func(of Breakdown) string { return number(of.None.median(), "sec/op") })
	row("programs started", func(of Breakdown) string { return each(of.started(), len(of.Calls)) })
	row("waits for the disk (fsync, fdatasync)", func(of Breakdown) string { return of.Waits.cell(len(of.Calls)) })
	row("CPU of all", func(of Breakdown) string { return number(of.cpu().Seconds()/float64(len(of.Calls)), "sec/op") })
	b.WriteString("\n")
}

// programNames returns the programs of all columns, in the order of the first column that has them.
func programNames(columns []Breakdown) (names []string) {
	for _, of := range columns {
		for _, s := range of.Programs {
			if !slices.Contains(names, s.Name) {
				names = append(names, s.Name)
			}
		}
	}
	return names
}

// cell shows how many of a program a call starts, how long each takes, and their total CPU time.
func (s Share) cell(calls int) string {
	var parts []string
	if s.Started > 0 {
		started := each(s.Started, calls)
		if len(s.Took) > 0 {
			started += " × " + number(s.Took.median(), "sec/op")
		}
		parts = append(parts, started)
	}
	if s.CPU > 0 {
		parts = append(parts, "CPU "+number(s.CPU.Seconds()/float64(calls), "sec/op"))
	}
	if len(parts) == 0 {
		return "-"
	}
	return strings.Join(parts, ", ")
}

// each is the average count for a call.
func each(count, calls int) string {
	return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(count)/float64(calls)), ".0")
}

func (of Breakdown) started() (count int) {
	for _, s := range of.Programs {
		count += s.Started
	}
	return count
}

func (of Breakdown) cpu() (took time.Duration) {
	for _, s := range of.Programs {
		took += s.CPU
	}
	return took
}
